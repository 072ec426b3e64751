"""Render: everything saved about a model, as one page.

Takes  what was saved, and the questions behind it, drawn again.
Gives  the text of an HTML file that needs nothing but itself.
Never  writes a date or a path, so that the same facts make the same page.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from statistics import fmean
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from carrylens.arithmetic.variables import ANSWER_KIND, COLUMN_KIND, DIGIT_KIND, INPUT_KIND, RESOLVED_KIND
from carrylens.discovery.stimulus_texts import PairTexts
from carrylens.evidence.rates import Rate
from carrylens.report.claim_words import claims_said
from carrylens.report.kind_styles import kind_class, kind_rules, kinds_of, variable_kind
from carrylens.report.page import (
    accuracy,
    circuit,
    effects,
    experiments,
    headline,
    node_grid,
    remake,
    unsettled,
    worked_example,
)
from carrylens.report.page.chart import chart
from carrylens.report.page.elements import page_policy
from carrylens.report.page.saved import Saved
from carrylens.report.terminal.claims import beyond_sentences, confidence_said, grouped
from carrylens.report.terminal.map import short_name
from carrylens.report.terminal.trace_rows import CellLook
from carrylens.tasks.variables import VariableKind

_LOOKS = {
    CellLook.DIGIT: INPUT_KIND,
    CellLook.ZERO: DIGIT_KIND,
    CellLook.ONE: RESOLVED_KIND,
    CellLook.UNCERTAIN: COLUMN_KIND,
    CellLook.ANSWER: ANSWER_KIND,
}
_OPERATIONS = {"add": "addition", "sub": "subtraction"}


def page_of(saved: Saved, pairs: Sequence[PairTexts] = (), questions: Sequence[str] = (), explorer: str = "") -> str:
    """The page about one model; `explorer` is the file beside it that runs the model, if there is one."""
    effects.check_claims([*saved.claims["claims"], *(c for rival in saved.claims["rivals"] for c in rival["refuted"])])
    drawn, kinds, found = circuit.circuit_of(saved), kinds_of(saved.map), saved.map
    context = {
        "head": headline.headline_of(saved),
        "shape": headline.shape_line(saved),
        "saved": saved,
        "accuracy": accuracy.accuracy_tables(saved.test),
        "marks": accuracy.scale_marks(),
        "circuit": circuit.circuit_drawing(drawn, saved.map, linked=True),
        "circuit_lines": circuit.circuit_lines(drawn, found.task.layout),
        "n_edges": len(drawn.edges),
        "marks_carries": circuit.marks_carries(found),
        "grid": node_grid.map_grid(saved),
        "roles": node_grid.role_table(saved.map),
        "groups_found": node_grid.group_table(saved.map),
        "groups": grouped(saved.claims["claims"]),
        "beyond": beyond_sentences(saved.claims),
        "worked": worked_example.worked_questions(saved),
        "experiments": experiments.experiments_of(saved.battery),
        "limits": list(unsettled.limits(saved, drawn)),
        "open": unsettled.open_claims(saved),
        "commands": list(remake.commands(saved)),
        "next": headline.next_commands(saved),
        "made_with": list(remake.made_with(saved)),
        "losses": loss_chart(saved),
        "loss_names": [_OPERATIONS.get(name, name) for name in _loss_operations(saved)],
        "pairs": pairs,
        "questions": questions,
        "explorer": explorer,
        **frame_of(kinds, "report.js"),
        "used": [kind for kind in kinds if any(box.kind == kind for box in drawn.boxes)],
        "output_kind": variable_kind(found, found.task.outputs[-1]),
    }
    return environment().get_template("report.html").render(context)


def loss_chart(saved: Saved) -> Markup:
    """How the mean loss fell, for each operation; empty where no history was saved."""
    notes = [line for line in saved.history if "token_losses" in line]
    series = []
    for operation in _loss_operations(saved):
        some = [note for note in notes if note["token_losses"].get(operation)]
        losses = [fmean(note["token_losses"][operation]) for note in some]
        steps = [note["step"] for note in some]
        label = _OPERATIONS.get(operation, operation)
        series.append({"label": label, "kind": "loss", "x": steps, "y": losses, "low": losses, "high": losses})
    if not series:
        return Markup("")
    figure = {"x_label": "step", "y_label": "mean loss", "series": series, "scale": "log"}
    return chart(figure, f"Training loss of {saved.map.model}", "losses")


def _loss_operations(saved: Saved) -> list[str]:
    return list(dict.fromkeys(name for line in saved.history for name in line.get("token_losses", ())))


@cache
def environment() -> Environment:
    """How every page is filled in: escaped, and with nothing left undefined."""
    made = Environment(
        loader=PackageLoader("carrylens.report.page", "."),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters |= {
        "percent": effects.percent,
        "claims_said": claims_said,
        "chance": effects.say_chance,
        "confidence": effects.confidence_in,
        "confidence_said": confidence_said,
        "short_name": short_name,
        "share": _share,
        "family": _family,
        "kind_class": kind_class,
    }
    looks = {look: kind_class(_LOOKS[look]) if look in _LOOKS else "" for look in CellLook}
    made.globals |= {"looks": looks, "rate_of": effects.rate_of_record}
    return made


def frame_of(kinds: Sequence[VariableKind], script: str = "") -> dict[str, Markup | str]:
    """The style sheet and the script of a page, and the policy by which nothing else runs in it."""
    style, run = f"{_text_of('report.css')}\n{kind_rules(kinds)}\n", _text_of(script) if script else ""
    assert not any("</" in text for text in (style, run)), "it would end before its end"
    more = ("style-src-attr 'unsafe-inline'", "require-trusted-types-for 'script'", "trusted-types 'none'")
    return {
        "style": Markup(style),
        "script": Markup(run),
        "policy": page_policy([run] if run else [], [style], more),
    }


def _text_of(name: str) -> str:
    return files("carrylens.report.page").joinpath(name).read_text(encoding="utf-8")


def _share(rate: Rate) -> Mapping[str, Any]:
    low, high = rate.interval
    return {"value": 100 * rate.value, "low": 100 * low, "high": 100 * high}


def _family(text: str) -> str:
    return text.split("[")[0]
