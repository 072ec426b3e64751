"""The card of an aligned model.

Takes  the plan that it was trained by and what its acceptance gave.
Gives  the text of its `README.md`.
Never  calls a model accepted that was not.
"""

from __future__ import annotations

from carrylens.evidence.rates import Rate
from carrylens.training.acceptance import LEAST_IDLE, LEAST_INTERCHANGE, NOISE, Acceptance, RowShare
from carrylens.training.plan import TrainingPlan


def aligned_card(plan: TrainingPlan, found: Acceptance) -> str:
    """What the model is, where its variables stand, and how surely."""
    assert plan.interchange is not None
    aligned = plan.interchange.alignment.sites
    sites = [f"| {' '.join(map(str, site.variables))} | {_copies(site.copies)} |" for site in aligned]
    rows = [f"| {what} | {_share(share)} |" for what, share in acceptance_rows(found)]
    verdict = "accepted" if found.accepted else "not accepted: its truth is not known"
    return "\n".join(
        [
            f"# {plan.name}",
            "",
            f"Trained to run *{plan.interchange.causal.name}* with each variable at the nodes named below: {verdict}.",
            f"Accepted is a model that reaches {LEAST_INTERCHANGE} under interchange, {LEAST_IDLE} with all other",
            f"nodes resampled, the same with {NOISE:.0%} of noise on its weights, and holds no other one so well.",
            "",
            "| held-out questions | whole answers that are the algorithm's |",
            "|---|---|",
            *rows,
            "",
            f"Train it again: `carrylens train {plan.name} --aligned aligned.json`.",
            "",
            "| variables | nodes |",
            "|---|---|",
            *sites,
            "",
        ]
    )


def acceptance_rows(found: Acceptance) -> list[tuple[str, RowShare]]:
    """Every rate with what it is of."""
    return [
        ("answers", found.answers),
        ("one site interchanged, where that changes the answer", found.one_site),
        ("four sites interchanged, where that changes the answer", found.several_sites),
        ("all other nodes resampled", found.idle),
        ("four sites interchanged and all other nodes resampled", found.several_and_idle),
        ("answers with noise on the weights", found.noisy_answers),
        ("four sites interchanged with noise on the weights", found.noisy_interchange),
        *((f"four sites interchanged, as *{name}* would have it", share) for name, share in found.others.items()),
    ]


def acceptance_lines(found: Acceptance, folder: str) -> list[str]:
    """The same for a terminal."""
    verdict = "accepted" if found.accepted else "not accepted"
    return [f"{folder}: {verdict}.", *(f"  {_share(share)}  {what}" for what, share in acceptance_rows(found))]


def _share(share: RowShare) -> str:
    low, high = Rate(share.right, share.rows).interval
    return f"{share.value:.3f} ({low:.3f} to {high:.3f}) of {share.rows:,}"


def _copies(copies: tuple[tuple[object, ...], ...]) -> str:
    return " or ".join(" + ".join(map(str, copy)) for copy in copies)
