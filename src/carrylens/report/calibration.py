"""Calibration in tables: how right each method is, what it finds where nothing is, and how sure a role may be called.

Takes  the records of a calibration.
Gives  text for a terminal, and the page `docs/calibration.md`.
Never  computes more than sums and shares of counts.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from carrylens.report.tables import align, markdown_table

Record = Mapping[str, Any]
Table = tuple[str, list[str], list[list[str]]]

_INTRODUCTION = """# How right the map is, where the truth is known

Made by `{command}`. Every circuit here was planted: its
weights were computed, so what each node carries is known. A role is a node and a variable. Precision is the share of
roles found that are planted, recall the share of planted roles that were found. Every method gets the same models, and
nothing of the truth.

- Variables that no question tells apart (ST[0] and SV[0] in an addition) count as one; `strict` is precision without
  that.
- A head that fetches one digit of a column, for another head to complete, carries that digit; saying so is not counted.
- A group is the set of all copies or partners that make one variable; only the whole set counts. Only `ours` looks for
  groups.
- `attention`, `probe` and `attribution` need a threshold. Each has the one that is best (highest harmonic mean of
  precision and recall by role) on training circuits, none of which is scored.

{n_scored} circuits are scored, with {digits} digits. Training circuits: {training}.
"""

_CONTROLS = """# What the map finds where it should find nothing, and how sure a role may be called

Made by `{command}`. Circuits are planted: their weights were
computed, so what each node carries is known. Training circuits, on which alone the confidence rule was fitted:
{training}.
"""

_SCORED = """Intervals of recall and precision take roles as independent, which those of one circuit are not; the
dotted line is at 0.95.
"""
_STATED = """Roles by their stated confidence, with the number of cases; on the dotted line the stated is the observed.
"""


def calibration_tables(records: Sequence[Record]) -> list[Table]:
    """Every table that the records have rows for: title, head and body."""
    scores = [record for record in records if record["part"] == "scores"]
    tables = [
        ("All settings together", _SCORE_HEAD, _score_rows(scores, ("method",))),
        ("By dial", ["dial", *_SCORE_HEAD], _score_rows(scores, ("dial", "method"))),
        ("By operation and digits", ["operation", "digits", *_SCORE_HEAD], _score_rows(scores, _SHAPE)),
        ("Recall and precision by variable", ["variable", *_methods(scores)], _variable_rows(scores)),
        ("Thresholds", ["method", "threshold"], _threshold_rows(scores)),
        ("Where ours falls short", ["setting", "wrong", "missed", "groups"], _short_rows(scores)),
        ("Where nothing is", _EMPTY_HEAD, _empty_rows(records)),
        ("Where something else is", _HELD_HEAD, _held_rows(records)),
        ("Accounts", ["circuit runs", "account", "right", "wrong", "open"], _account_rows(records)),
        ("Tri-state asked of binary carries", ["heads asked", "given ST", "which"], _binary_rows(records)),
        ("Stated and observed", _STATED_HEAD, _reliability_rows(records)),
    ]
    return [table for table in tables if table[2]]


def calibration_text(records: Sequence[Record]) -> str:
    """The tables for a terminal."""
    return "\n".join(
        line for title, head, body in calibration_tables(records) for line in (title, *align(head, body), "")
    )


def calibration_page(
    records: Sequence[Record], command: str, training: Sequence[str], picture: Path | None = None
) -> str:
    """The page of the documentation; `picture` lies beside it."""
    scored = {record["setting"]: str(record["digits"]) for record in records if record["part"] == "scores"}
    digits = ", ".join(dict.fromkeys(scored.values()))
    introduction = _INTRODUCTION if scored else _CONTROLS
    lines = [introduction.format(command=command, n_scored=len(scored), digits=digits, training=", ".join(training))]
    if picture is not None:
        has_stated = any(record["part"] == "reliability" for record in records)
        shown = ["recall and precision of each method by dial"] * bool(scored) + ["stated confidence"] * has_stated
        lines += [f"![{' and '.join(shown).capitalize()}]({picture.name})", ""]
        lines += [_SCORED] * bool(scored) + [_STATED] * has_stated
    for title, head, body in calibration_tables(records):
        lines += [f"## {title}", "", *([_NOTES[title], ""] if title in _NOTES else []), *markdown_table(head, body), ""]
    return "\n".join(lines).rstrip() + "\n"


_SHAPE = ("operation", "digits", "method")
_SCORE_HEAD = ["method", "precision", "strict", "recall", "roles", "group precision", "group recall", "decoys tagged"]
_EMPTY_HEAD = ["models", "roles confirmed of tested", "interval", "tested of sets"]
_EMPTY_HEAD += ["models with any", "interval", "level", "bound for any"]
_HELD_HEAD = ["what the nodes hold", "false roles confirmed of tested", "interval", "circuits with any", "interval"]
_HELD_HEAD += ["of all roles confirmed", "level"]
_STATED_HEAD = ["stated", "mean stated", "true", "circuits", "share by circuit", "interval"]
_NOTES = {
    "Where nothing is": "Untrained models, and models with the entries of every weight shuffled, asked for the roles "
    "of every node and every pair of heads, and of every set that the search for groups comes up with. A token counts "
    "as moved in the null where the untouched model writes another, right or wrong, so that these models can fail. The "
    "level is that of one family of tests (Benjamini-Yekutieli): where nothing is true it bounds the chance of "
    "confirming any role. Single nodes, pairs and groups are corrected apart, each for swaps and for shifts: up to six "
    "families, so the chance of any role in a model is at most six times the level.",
    "Where something else is": "The scored circuits, which answer right, asked in the same way: roles of nodes that by "
    "truth do not hold the variable. Idle nodes hold nothing that anybody reads, decoys a right value that nobody "
    "reads; the others hold variables of other columns, or other variables made from some of the same digits. A set is "
    "as near as its nearest member. Of all roles confirmed in a family at most the level is false on average, as far "
    "as chance goes; that a variable passes for another is no matter of chance, and what the last two rows are for. "
    "Roles of one circuit are not independent: the first interval is for those who take them as such, the second is "
    "not touched by that.",
    "Accounts": "Planted additions of three kinds, each judged under every account on the same map, which is made in "
    "full unless with `--quick`: on less evidence no account falls for want of a carrier. An account that the circuit "
    "runs must be present, any other absent; open is neither.",
    "Tri-state asked of binary carries": "Heads that fetch for SC or for S9 alone, asked whether they carry ST. One "
    "that is given ST has a false role; how often it hits stands beside it.",
    "Stated and observed": "What `map`, `judge` and `report` call the confidence of a role: the share of true ones "
    "among roles with such a margin of the hit rate over the null, by a rule with two coefficients (and a ceiling) "
    "that was fitted on the training circuits. Here it is held against the scored ones. The cases, there and here, are "
    "the roles of single nodes that the search gives on next to no evidence, on the usual number of pairs and on 4, 8 "
    "and 16; and of twins with shuffled weights, where none is true, those that hit most often. True and false ones "
    "are measured alike, null included. The last row has the roles as a map confirms them, those of sets too. In the "
    "share and its interval each circuit counts once, however many roles and numbers of pairs it was asked with. A row "
    "without cases shows nothing, for or against the rule. The rule knows planted circuits only: of a trained model "
    "the confidence says how such a role would fare in one of those.",
}


def _score_rows(scores: Sequence[Record], keys: Sequence[str]) -> list[list[str]]:
    rows = []
    for names, some in _by(scores, keys):
        roles, groups, strict, decoys = (_sum(some, kind) for kind in ("roles", "groups", "strict", "decoys"))
        cells = [_share(roles[2], roles[1]), _share(strict[2], strict[1]), _share(roles[2], roles[0]), f"{roles[0]:,}"]
        cells += [_share(groups[2], groups[1]), _share(groups[2], groups[0]), f"{decoys[1]} of {decoys[0]}"]
        rows.append([*names, *cells])
    return rows


def _variable_rows(scores: Sequence[Record]) -> list[list[str]]:
    methods = _methods(scores)
    names = sorted({name for record in scores for name in record["result"]["by_variable"]})
    rows = []
    for name in names:
        cells = []
        for method in methods:
            counts = [
                record["result"]["by_variable"][name]
                for record in scores
                if record["method"] == method and name in record["result"]["by_variable"]
            ]
            true, found, both = (sum(each[kind] for each in counts) for kind in ("n_true", "n_found", "n_both"))
            cells.append(f"{_share(both, true)} / {_share(both, found)}")
        rows.append([name, *cells])
    return rows


def _threshold_rows(scores: Sequence[Record]) -> list[list[str]]:
    found = {record["method"]: record["threshold"] for record in scores if record["threshold"] is not None}
    return [[method, f"{value:.3g}"] for method, value in found.items()]


def _short_rows(scores: Sequence[Record]) -> list[list[str]]:
    rows = []
    for record in scores:
        result = record["result"]
        groups = [*(f"not {each}" for each in result["missed_groups"]), *result["wrong_groups"]]
        if record["method"] == "ours" and (result["wrong"] or result["missed"] or groups):
            rows.append([record["setting"], *(_some(names) for names in (result["wrong"], result["missed"], groups))])
    return rows


def _empty_rows(records: Sequence[Record]) -> list[list[str]]:
    rows = []
    for each in records:
        if each["part"] == "nothing there, summary":
            roles, models = each["roles"], each["models"]
            row = [each["kind"], f"{roles['hits']} of {roles['n']:,}", _interval(roles["interval"])]
            row.append(f"{each['of_sets']:,}")
            row += [f"{models['hits']} of {models['n']}", _interval(models["interval"])]
            rows.append([*row, f"{each['level']:g}", f"{each['bound']:g}"])
    return rows


def _held_rows(records: Sequence[Record]) -> list[list[str]]:
    rows = []
    for each in records:
        if each["part"] == "not held, summary":
            roles, circuits = each["roles"], each["circuits"]
            row = [each["kind"], f"{roles['hits']} of {roles['n']:,}", _interval(roles["interval"])]
            row += [f"{circuits['hits']} of {circuits['n']}", _interval(circuits["interval"])]
            rows.append([*row, f"{roles['hits']} of {each['all_confirmed']:,}", f"{each['level']:g}"])
    return rows


def _account_rows(records: Sequence[Record]) -> list[list[str]]:
    rows = []
    accounts = [record for record in records if record["part"] == "accounts"]
    for names, some in _by(accounts, ("runs", "account")):
        counts = [sum(each["verdict"] == verdict for each in some) for verdict in ("right", "wrong", "open")]
        rows.append([*names, *map(str, counts)])
    return rows


def _binary_rows(records: Sequence[Record]) -> list[list[str]]:
    found = [each for each in records if each["part"] == "tri-state asked of binary carries"]
    return [[str(each["tested"]), str(len(each["given"])), _some(_with_hits(each))] for each in found]


def _with_hits(record: Record) -> list[str]:
    hits = record["hits"]
    return [f"{role} ({max(hits[one] for one in hits if one.startswith(f'{role} ')):.2f})" for role in record["given"]]


def _reliability_rows(records: Sequence[Record]) -> list[list[str]]:
    rows = []
    for each in records:
        if each["part"] == "reliability":
            name = "as a map confirms" if each["low"] is None else f"{each['low']:g} to {each['high']:g}"
            seen = ["-", "no case", "0", "-", "-"]
            if each["n"]:
                seen = [f"{each['stated']:.3f}", f"{each['hits']:,} of {each['n']:,}", str(each["circuits"])]
                seen += [f"{each['share']:.3f}", _interval(each["interval"])]
            rows.append([name, *seen])
    return rows


def _by(records: Iterable[Record], keys: Sequence[str]) -> list[tuple[list[str], list[Record]]]:
    found: dict[tuple[str, ...], list[Record]] = {}
    for record in records:
        found.setdefault(tuple(str(record[key]) for key in keys), []).append(record)
    return [(list(names), some) for names, some in found.items()]


def _methods(scores: Iterable[Record]) -> list[str]:
    return list(dict.fromkeys(record["method"] for record in scores))


def _sum(records: Iterable[Record], kind: str) -> tuple[int, int, int]:
    counts = [record["result"][kind] for record in records]
    true, found, both = (sum(each[name] for each in counts) for name in ("n_true", "n_found", "n_both"))
    return true, found, both


def _share(part: int, whole: int) -> str:
    return f"{part / whole:.3f}" if whole else "-"


def _interval(bounds: Sequence[float]) -> str:
    return f"{bounds[0]:.3g} to {bounds[1]:.3g}"


def _some(names: Sequence[str], most: int = 6) -> str:
    more = f", {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more if names else "-"
