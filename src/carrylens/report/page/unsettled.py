"""Unsettled: what was not tested, and what was and told nothing.

Takes  what was saved.
Gives  sentences, the broad ones first, then claims by verdict.
Never  passes silence over as success.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from carrylens.arithmetic.task import ArithmeticTask
from carrylens.report.page.circuit import Circuit, circuit_nodes
from carrylens.report.page.saved import Saved


def limits(saved: Saved, circuit: Circuit) -> Iterator[str]:
    """What this page cannot tell, a sentence each."""
    settings = saved.map.stimuli.get("settings")
    said: Mapping[str, Any] = settings if isinstance(settings, Mapping) else {}
    without = sorted(saved.map.useful - circuit_nodes(circuit))
    if without:
        yield (
            f"{len(without)} of {len(saved.map.useful)} useful nodes are not in the circuit: something fails without "
            "them, and what they carry was not surely found."
        )
    if not (saved.map.stimuli.get("groups") or said.get("groups")):
        pairs = "Single nodes and pairs of heads" if said.get("pairs") else "Only single nodes"
        yield f"{pairs} were searched for roles, not larger groups. A value spread over more nodes than that is missed."
    yield (
        "Lines of the circuit say that one node can read what another writes, and that both carry what the algorithm "
        "needs. Whether that very path is used takes an experiment of its own."
    )
    if all(fact.about.get("split") == "confirm" for fact in saved.facts):
        yield "The map came without its facts, so what was tried and not found is not on this page."
    is_arithmetic = isinstance(saved.map.task, ArithmeticTask)
    if saved.test is None and is_arithmetic:
        yield "The model's failures were not counted: carrylens test does that."
    if not saved.battery and is_arithmetic:
        yield "The battery of experiments was not run: sufficiency, restoration and steering are not on this page."
    if saved.worked is None:
        yield "No question was worked through the model."


def open_claims(saved: Saved) -> dict[str, list[Mapping[str, Any]]]:
    """The required claims that are refuted, inconclusive or untested."""
    found: dict[str, list[Mapping[str, Any]]] = {}
    for verdict in ("REFUTED", "INCONCLUSIVE", "UNTESTED"):
        some = [claim for claim in saved.claims["claims"] if claim["required"] and claim["verdict"] == verdict]
        if some:
            found[verdict] = some
    return found
