"""The benchmark in tables: how right each method is, what it finds where nothing is, how sure a role may be called.

Takes  the records of a benchmark.
Gives  text for a terminal, and the page `docs/calibration.md`.
Never  computes more than sums and shares of counts.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from statistics import fmean

from carrylens.report.plain_records import Record
from carrylens.report.terminal.benchmark_words import CONTROLS, INTRODUCTION, NOTES, SCORED, STATED
from carrylens.report.terminal.tables import align, markdown_table

ScoreTable = tuple[str, list[str], list[list[str]]]


def calibration_tables(records: Sequence[Record]) -> list[ScoreTable]:
    """Every table that the records have rows for: title, head and body."""
    scores = [record for record in records if record["part"] == "scores"]
    tables = [
        ("All settings together", _SCORE_HEAD, _score_rows(scores, ("method",))),
        ("Mean over circuits", ["method", "circuits", "precision", "recall"], _mean_rows(scores)),
        ("By dial", ["dial", *_SCORE_HEAD], _score_rows(_labelled(scores, _DIAL), _DIAL)),
        (
            "By operation and digits",
            ["operation", "digits", *_SCORE_HEAD],
            _score_rows(_labelled(scores, _SHAPE), _SHAPE),
        ),
        ("Recall and precision by variable", ["variable", *_methods(scores)], _variable_rows(scores)),
        ("Thresholds", ["method", "threshold"], _threshold_rows(scores)),
        ("Where ours falls short", ["setting", "wrong", "missed", "groups"], _short_rows(scores)),
        ("Where nothing is", _EMPTY_HEAD, _empty_rows(records)),
        ("Where something else is", _HELD_HEAD, _held_rows(records)),
        ("Hypotheses", ["circuit runs", "hypothesis", "right", "wrong", "open"], _hypothesis_rows(records)),
        ("Binary carries evaluated on ST", ["heads tested", "given ST", "which"], _binary_rows(records)),
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
    scored = {record["setting"]: record.get("digits") for record in records if record["part"] == "scores"}
    widths = ", ".join(dict.fromkeys(str(each) for each in scored.values() if each is not None))
    digits = f", with {widths} digits" if widths else ""
    introduction = INTRODUCTION if scored else CONTROLS
    fitted = next((record["circuits"] for record in records if record["part"] == "confidence"), training)
    training = training if scored else fitted
    lines = [introduction.format(command=command, n_scored=len(scored), digits=digits, training=", ".join(training))]
    if picture is not None:
        has_stated = any(record["part"] == "reliability" for record in records)
        shown = ["recall and precision of each method by dial"] * bool(scored) + ["stated confidence"] * has_stated
        lines += [f"![{' and '.join(shown).capitalize()}]({picture.name})", ""]
        lines += [SCORED] * bool(scored) + [STATED] * has_stated
    for title, head, body in calibration_tables(records):
        lines += [f"## {title}", "", *([NOTES[title], ""] if title in NOTES else []), *markdown_table(head, body), ""]
    return "\n".join(lines).rstrip() + "\n"


_DIAL, _SHAPE = ("dial", "method"), ("operation", "digits", "method")
_SCORE_HEAD = ["method", "precision", "strict", "recall", "made", "roles", "group precision", "group recall"]
_SCORE_HEAD += ["decoys tagged"]
_TEST_HEAD = ["tested", "hit a quarter", "weighed", "confirmed", "interval"]
_EMPTY_HEAD = ["models", *_TEST_HEAD, "of sets", "models with any", "interval", "level", "bound for any"]
_HELD_HEAD = ["what the nodes hold", *_TEST_HEAD, "circuits with any", "interval", "of all roles confirmed", "level"]
_STATED_HEAD = ["stated", "mean stated", "true", "of twins", "circuits", "share by circuit", "interval"]


def _score_rows(scores: Sequence[Record], keys: Sequence[str]) -> list[list[str]]:
    rows = []
    for names, some in _by(scores, keys):
        roles, groups, strict, decoys = (_sum(some, kind) for kind in ("roles", "groups", "strict", "decoys"))
        made = _sum(some, "made")
        cells = [_share(roles[2], roles[1]), _share(strict[2], strict[1]), _share(roles[2], roles[0])]
        cells += [_share(made[2], made[0]), f"{roles[0]:,}"]
        cells += [_share(groups[2], groups[1]), _share(groups[2], groups[0]), f"{decoys[1]} of {decoys[0]}"]
        rows.append([*names, *cells])
    return rows


def _mean_rows(scores: Sequence[Record]) -> list[list[str]]:
    # Each circuit counts once; one in which a method finds nothing has no precision.
    rows = []
    for (method,), some in _by(scores, ("method",)):
        roles = [each["result"]["roles"] for each in some]
        shares = [[each["n_both"] / each[whole] for each in roles if each[whole]] for whole in ("n_found", "n_true")]
        rows.append([method, str(len(some)), *(f"{fmean(each):.3f}" if each else "-" for each in shares)])
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
            row = [each["kind"], *_test_cells(each, roles), f"{each['of_sets']:,}"]
            row += [f"{models['hits']} of {models['n']}", _interval(models["interval"])]
            rows.append([*row, f"{each['level']:g}", f"{each['bound']:g}"])
    return rows


def _held_rows(records: Sequence[Record]) -> list[list[str]]:
    rows = []
    for each in records:
        if each["part"] == "not held, summary":
            roles, circuits = each["roles"], each["circuits"]
            row = [each["kind"], *_test_cells(each, roles)]
            row += [f"{circuits['hits']} of {circuits['n']}", _interval(circuits["interval"])]
            rows.append([*row, f"{roles['hits']} of {each['all_confirmed']:,}", f"{each['level']:g}"])
    return rows


def _test_cells(record: Record, roles: Record) -> list[str]:
    cells = [f"{record[name]:,}" for name in ("tested", "hit", "weighed")]
    return [*cells, f"{roles['hits']:,}", _interval(roles["interval"]) if roles["n"] else "-"]


def _hypothesis_rows(records: Sequence[Record]) -> list[list[str]]:
    rows = []
    judged = [record for record in records if record["part"] == "accounts"]
    for names, some in _by(judged, ("runs", "account")):
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
            seen = ["-", "no case", "0", "0", "-", "-"]
            if each["n"]:
                seen = [f"{each['stated']:.3f}", f"{each['hits']:,} of {each['n']:,}", f"{each['of_twins']:,}"]
                seen += [str(each["circuits"])]
                seen += [f"{each['share']:.3f}", _interval(each["interval"])]
            rows.append([name, *seen])
    return rows


def _by(records: Iterable[Record], keys: Sequence[str]) -> list[tuple[list[str], list[Record]]]:
    found: dict[tuple[str, ...], list[Record]] = {}
    for record in records:
        found.setdefault(tuple(str(record[key]) for key in keys), []).append(record)
    return [(list(names), some) for names, some in found.items()]


def _labelled(records: Sequence[Record], keys: Sequence[str]) -> list[Record]:
    # Circuits of other studies have other labels, or none.
    return [record for record in records if all(key in record for key in keys)]


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
