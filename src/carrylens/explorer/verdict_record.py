"""Verdict record: what was judged about a model, for the top of its page.

Takes  what a file of claims says, as plain data; the measured alignment, where there is one.
Gives  hypothesis, verdict, counts of claims, every rate that was measured of the whole, and how the rivals fare.
Never  says a word that the files do not say, or needs a part that a file of another version may not have.

Where an alignment was measured, the verdict is the one that it comes to; of the claims only the counts are left.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from carrylens.claims.run_verdict import RunJudgement, run_judgement
from carrylens.discovery.alignment.joint_rates import MeasuredAlignment

_VERDICTS = ("verdict", "skeleton")  # files of the first version call it the second
_RATE = {"hits", "n"}


def verdict_record(claims: Mapping[str, Any], alignment: MeasuredAlignment | None = None) -> dict[str, Any] | None:
    """The verdict as plain data; none where nothing was judged.

    >>> found = verdict_record({"hypothesis": "add", "skeleton": "present", "required": {"supported": 2, "refuted": 0}})
    >>> found["hypothesis"], found["verdict"], found["required"], found["population"]
    ('add', 'present', [['supported', 2]], None)
    """
    if alignment is not None:
        return _joint_record(claims, alignment, run_judgement(alignment))
    said = _said(claims)
    if said is None:
        return None
    return {
        "hypothesis": str(claims.get("hypothesis", "")),
        "verdict": said,
        "population": None,
        "required": _required(claims),
        "rates": [[name, rate["hits"], rate["n"]] for name, rate in _rates(claims)],
        "notes": [],
        "rivals": [[str(rival.get("hypothesis", "")), _said(rival)] for rival in _records(claims.get("rivals"))],
        "carriers": [],
    }


def _joint_record(claims: Mapping[str, Any], found: MeasuredAlignment, judged: RunJudgement) -> dict[str, Any]:
    rates = {
        "Joint interchange, several variables at once": found.rates.interchange,
        "Scrubbing, everything outside the alignment resampled": found.rates.scrubbed,
    }
    return {
        "hypothesis": judged.hypothesis,
        "verdict": judged.verdict.value,
        "population": found.drawn.population,
        "required": _required(claims),
        "rates": [[name, rate.hits, rate.n] for name, rate in rates.items()],
        "notes": list(_notes(judged)),
        "rivals": [[each.name, each.standing] for each in judged.rivals],
        "carriers": [
            [each.target, " ".join(map(str, each.nodes)), each.hit.hits, each.hit.n, each.null.hits, each.null.n]
            for each in found.rates.carriers
        ],
    }


def _notes(judged: RunJudgement) -> Iterator[str]:
    count = judged.carriers
    yield f"{count.supported} of {count.required} required variables have a whole carrier."
    if judged.worst_output is not None:
        yield f"Worst output: {judged.worst_output}."
    if judged.form is not None:
        yield f"Form: {judged.form}."
    yield from (f"Deviation: {each.sentence}" for each in judged.deviations)
    yield from (
        f"Open: {each.claim}{each.cost and f' {each.cost.capitalize()}.'} Next: {each.settled_by}"
        for each in judged.open
    )


def _required(claims: Mapping[str, Any]) -> list[list[str | int]]:
    return [[name, count] for name, count in _counts(claims.get("required")) if count]


def _said(record: Mapping[str, Any]) -> str | None:
    found = next((record[name] for name in _VERDICTS if name in record), None)
    return _said(found) if isinstance(found, Mapping) else None if found is None else str(found)


def _counts(given: Any) -> Iterator[tuple[str, int]]:
    for name, count in given.items() if isinstance(given, Mapping) else ():
        if isinstance(count, int):
            yield str(name), count


def _records(given: Any) -> Iterator[Mapping[str, Any]]:
    for each in given if isinstance(given, list) else ():
        if isinstance(each, Mapping):
            yield each


def _rates(given: Mapping[str, Any], above: str = "") -> Iterator[tuple[str, Mapping[str, Any]]]:
    # Rates of the whole model: those of single claims, nodes and rivals stand in lists.
    for name, value in given.items():
        title = f"{above} {name}".strip().replace("_", " ")
        if isinstance(value, Mapping):
            yield from [(title, value)] if value.keys() >= _RATE else _rates(value, title)
