"""Tables of aligned models: what each was trained to run, and what its acceptance gave.

Takes  figures of aligned models.
Gives  lines for a terminal, and Markdown.
Never  leaves out a model that was not accepted.
"""

from __future__ import annotations

from collections.abc import Sequence

from carrylens.arithmetic.aligned.shipped import AlignedFigures
from carrylens.report.terminal.tables import align, markdown_table

_COLUMNS = (
    ("answers", "answers"),
    ("one site", "one_site"),
    ("four sites", "several_sites"),
    ("idle resampled", "idle"),
    ("both", "several_and_idle"),
    ("noise 1%", "noisy_interchange"),
)
_HEAD = ["model", "algorithm", "variables", "copies", *(name for name, _ in _COLUMNS), "best other"]
_PAGE = """# Models trained under an alignment

Made by `make docs` with the command `carrylens models --aligned --markdown` from the folders of these models. Each was
trained by `carrylens train NAME --aligned FILE` to hold every variable of its algorithm at given nodes
([how](aligned.md)): up to so many variables at one site (polysemy), and up to so many copies of one, each of which
suffices (redundancy). Shares are of whole answers on 5,000 held-out enriched questions: untouched; with one site
interchanged and with four, where that changes the answer; with all other nodes resampled; with both; with four sites
interchanged and 1% of noise on every weight. The last column is the best share that any other algorithm reaches at
the same sites, or at sites of its own if it cannot stand there. Accepted are those with at least 0.98 under
interchange and noise, 0.95 with other nodes resampled, and less than 0.98 for every other algorithm.
"""


def aligned_lines(figures: Sequence[AlignedFigures]) -> list[str]:
    """One line for each model."""
    if not figures:
        return ["No aligned models are shipped."]
    return align([*_HEAD, "accepted"], [[*_row(each), "yes" if each.accepted else "no"] for each in figures])


def aligned_page(figures: Sequence[AlignedFigures]) -> str:
    """The document with every aligned model."""
    accepted = [each for each in figures if each.accepted]
    refused = [each for each in figures if not each.accepted]
    parts = [_PAGE, f"## Accepted: {len(accepted)}\n", _table(accepted)]
    if refused:
        parts += [f"\n## Not accepted: {len(refused)}\n", _table(refused, tried=True)]
    return "\n".join(parts)


def _table(figures: Sequence[AlignedFigures], *, tried: bool = False) -> str:
    head = [*_HEAD, *(["what was tried"] if tried else [])]
    return "\n".join(markdown_table(head, [[*_row(each), *([each.tried] if tried else [])] for each in figures]))


def _row(each: AlignedFigures) -> list[str]:
    others = each.rates.get("others")
    best = max((_share(share) for share in others.values()), default=0.0) if isinstance(others, dict) else 0.0
    shape = [str(each.n_variables), str(each.n_copies)]
    return [
        each.name,
        each.algorithm,
        *shape,
        *(f"{_share(each.rates[key]):.3f}" for _, key in _COLUMNS),
        f"{best:.3f}",
    ]


def _share(given: object) -> float:
    assert isinstance(given, dict)
    return int(given["right"]) / int(given["rows"]) if given["rows"] else 0.0
