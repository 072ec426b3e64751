"""Saved form: `battery.json`, its thousands of facts in columns, so that it is small enough to come with a model.

Takes  outcomes, or the text of a file.
Gives  the bytes of the file, and from them the plain records again.
Never  loses anything: what comes back is what was given, in the same order.

1. Facts of one sort that follow each other (same kind, same names in `about`, same stimuli) become one block.
2. A block has a column for each thing a fact says; a column of one value is that value, one of few is a list of them
   and where each stands.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any

from carrylens.arithmetic.battery.outcome import Outcome

BATTERY = "battery.json"
_COUNTS = (("effect", "hits"), ("effect", "n"), ("null", "hits"), ("null", "n"))

Record = Mapping[str, Any]


def battery_bytes(about: Record, outcomes: Sequence[Outcome]) -> bytes:
    """The file: what the outcomes are of, then one line for each."""
    lines = ",\n".join(_tight({**record, "facts": list(_blocks(record["facts"]))}) for record in _records(outcomes))
    return f'{{"about":{_tight(dict(about))},\n"outcomes":[\n{lines}\n]}}\n'.encode()


def battery_record(text: str | bytes) -> dict[str, Any]:
    """What the file says: `about`, and `outcomes` as `Outcome.record` gives them."""
    given = json.loads(text)
    outcomes = [{**each, "facts": list(_facts(each["facts"]))} for each in given["outcomes"]]
    return {"about": dict(given["about"]), "outcomes": outcomes}


def _records(outcomes: Sequence[Outcome]) -> Iterator[dict[str, Any]]:
    return (outcome.record() for outcome in outcomes)


def _blocks(facts: Sequence[Record]) -> Iterator[Record]:
    for _, some in groupby(facts, key=lambda fact: _tight([fact["kind"], list(fact["about"]), fact["stimuli"]])):
        alike = list(some)
        first = alike[0]
        yield {
            "kind": first["kind"],
            "n": len(alike),
            "about": {name: _column([fact["about"][name] for fact in alike]) for name in first["about"]},
            "counts": [_column([fact[side][name] for fact in alike]) for side, name in _COUNTS],
            "stimuli": first["stimuli"],
        }


def _facts(blocks: Sequence[Record]) -> Iterator[Record]:
    for block in blocks:
        if "counts" not in block:  # a fact written out in full
            yield block
            continue
        n = block["n"]
        about = {name: _values(column, n) for name, column in block["about"].items()}
        hits, asked, null_hits, null_asked = (_values(column, n) for column in block["counts"])
        for at in range(n):
            yield {
                "kind": block["kind"],
                "about": {name: values[at] for name, values in about.items()},
                "effect": {"hits": hits[at], "n": asked[at]},
                "null": {"hits": null_hits[at], "n": null_asked[at]},
                "stimuli": dict(block["stimuli"]),
            }


def _column(values: Sequence[Any]) -> Record:
    texts = [_tight(value) for value in values]
    different = list(dict.fromkeys(texts))
    if len(different) == 1:
        return {"all": values[0]}
    if 2 * len(different) < len(texts) and any(isinstance(value, str | list) for value in values):
        places = {text: at for at, text in enumerate(different)}
        return {"of": [json.loads(text) for text in different], "at": [places[text] for text in texts]}
    return {"each": list(values)}


def _values(column: Record, n: int) -> list[Any]:
    if "all" in column:
        return [column["all"]] * n
    return [column["of"][at] for at in column["at"]] if "of" in column else column["each"]


def _tight(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"))
