"""The paper's page: every claim with ours beside it, for a document, for a browser, and in short for a terminal.

Takes  claims with their answers, and the rows of the paper's tables of models.
Gives  Markdown, one HTML file, lines.
Never  computes, and never rounds a word: the counts at the top are those of the rows below.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from typing import Any

from carrylens.arithmetic.paper.claim import Agreement, PaperAnswer, PaperClaim
from carrylens.report.page.elements import page_policy
from carrylens.report.terminal.tables import markdown_table

_FALLEN = (
    "About all models, about the paper's own data, or about its algorithms. Figures of one model that differ stand in "
    "the tables below: another training run need not have them."
)

AnsweredSections = Sequence[tuple[str, Sequence[tuple[PaperClaim, PaperAnswer]]]]

_HEAD = ("where", "the paper", "ours", "N", "null", "word", "command")
_MODEL_HEAD = ("the paper's model", "fails", "loss", "heads, MLPs", "ours", "fails", "bar", "loss", "heads, MLPs")
_WORDS = {
    Agreement.AGREES: "ours says the same",
    Agreement.DIFFERS: "ours says otherwise",
    Agreement.OPEN: "it was measured and could not be told",
    Agreement.APART: "the two are not of the same thing",
    Agreement.MISSING: "it was not measured here",
    Agreement.SHOWN: "a figure with a counterpart of ours",
}
_INTRO = """# The paper, answered line by line

Made by `make docs` with the command `carrylens paper --markdown` from what comes with the models: their tests, maps,
claims and experiments, and from the algorithms themselves. The paper is *Understanding Addition and Subtraction in
Transformers* (Quirke, Neo, Barez); its models have width 510, ours 96. Intervals are exact 95% intervals. "Together"
pools all stimuli of all models. MODEL stands for each model in turn. Claims stand in the paper's order, in our words
with its figures; "released" marks figures that its released results have and its text does not.
"""


def paper_page(sections: AnsweredSections, rows: Sequence[Mapping[str, Any]]) -> str:
    """The page as Markdown."""
    lines = [_INTRO, *markdown_table(["word", "claims", "meaning"], _counts(sections)), ""]
    lines += ["## Claims that did not survive", "", _FALLEN, "", *_fallen(sections)]
    for title, claims in sections:
        lines += ["", f"## {title}", "", *markdown_table(_HEAD, [_cells(*each) for each in claims])]
    lines += ["", "## The 46 models", "", *markdown_table(_MODEL_HEAD, [_model_cells(row) for row in rows])]
    return "\n".join(lines)


def paper_lines(sections: AnsweredSections) -> list[str]:
    """The counts, then every claim that differs."""
    counts = [f"{n} {word}" for word, n, _ in _counts(sections)]
    return [f"Claims, tables and figures: {', '.join(counts)}.", "Differs:", *_fallen(sections, "  ")]


def paper_html(sections: AnsweredSections, rows: Sequence[Mapping[str, Any]]) -> str:
    """The page as one HTML file, without scripts and without anything from elsewhere."""
    body = ["<h1>The paper, answered line by line</h1>", _html_table(("word", "claims", "meaning"), _counts(sections))]
    for title, claims in sections:
        body += [f"<h2>{escape(title)}</h2>", _html_table(_HEAD, [_cells(*each) for each in claims])]
    body += ["<h2>The 46 models</h2>", _html_table(_MODEL_HEAD, [_model_cells(row) for row in rows])]
    return _HTML.format(policy=_POLICY, style=_STYLE, body="\n".join(body))


def _counts(sections: AnsweredSections) -> list[tuple[str, str, str]]:
    found = Counter(answer.word for _, claims in sections for _, answer in claims)
    return [(word.value, str(found[word]), _WORDS[word]) for word in Agreement if found[word]]


def _fallen(sections: AnsweredSections, indent: str = "- ") -> Iterator[str]:
    for _, claims in sections:
        for claim, answer in claims:
            if answer.word is Agreement.DIFFERS and not answer.single:
                why = f" ({answer.why})" if answer.why else ""
                yield f"{indent}{claim.says} [{claim.where}]. Ours: {answer.ours}{why}."


def _cells(claim: PaperClaim, answer: PaperAnswer) -> tuple[str, ...]:
    n = "" if answer.n is None else f"{answer.n:,} {answer.of}"
    why = f": {answer.why}" if answer.why else ""
    command = ", ".join(f"`{each}`" for each in answer.command.split("; ")) if answer.command else ""
    return tuple(
        _cell(text)
        for text in (claim.where, claim.says, answer.ours, n, answer.null, f"{answer.word.value}{why}", command)
    )


def _model_cells(row: Mapping[str, Any]) -> tuple[str, ...]:
    theirs = " / ".join(f"{n:,}" for n in row["paper_failures"].values())
    ours = row["failures"]
    if ours is None:
        mine = ("not trained yet", "", "", "")
    else:
        failed = " / ".join(f"{n} of {asked:,}" for n, asked in ours.values())
        bar = {True: "meets", False: "misses", None: "not told"}[row["meets_bar"]]
        mine = (failed, bar, "" if row["loss"] is None else f"{row['loss']:.1e}", _nodes(row["nodes"]))
    cells = (row["paper"], theirs, f"{row['paper_loss']:.1e}", _nodes(row["paper_nodes"]), row["model"], *mine)
    return tuple(_cell(str(text)) for text in cells)


def _nodes(nodes: Sequence[int] | None) -> str:
    return "not mapped" if nodes is None else ", ".join(map(str, nodes))


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def _html_table(head: Sequence[str], body: Sequence[Sequence[str]]) -> str:
    top = "".join(f"<th>{escape(name)}</th>" for name in head)
    rows = ["".join(f"<td>{_html_cell(cell)}</td>" for cell in row) for row in body]
    return f"<table><thead><tr>{top}</tr></thead><tbody>{''.join(f'<tr>{row}</tr>' for row in rows)}</tbody></table>"


def _html_cell(cell: str) -> str:
    text = escape(cell.replace("\\|", "|"))
    return re.sub("`([^`]*)`", r"<code>\1</code>", text)


_STYLE = """
:root { color-scheme: light dark; }
body { font: 15px/1.45 system-ui, sans-serif; margin: 2rem auto; max-width: 80rem; padding: 0 1rem; }
table { border-collapse: collapse; width: 100%; margin: 1rem 0; }
th, td { border-bottom: 1px solid #8886; padding: .35rem .6rem; text-align: left; vertical-align: top; }
code { font-size: .85em; overflow-wrap: anywhere; }
"""
_POLICY = page_policy([], [_STYLE])
_HTML = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<title>The paper, answered</title><style>{style}</style></head><body>
{body}
</body></html>
"""
