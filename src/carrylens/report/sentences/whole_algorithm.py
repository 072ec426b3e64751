"""The sentence of `whole-algorithm`: what each hypothesis predicts, which rivals are ruled out, what scrubbing keeps.

Takes  what the experiment's summary was made of.
Gives  text.
Never  measures, or judges.
"""

from __future__ import annotations

from collections.abc import Sequence

from carrylens.arithmetic.battery.measures.hit_rates import hit_rate
from carrylens.arithmetic.battery.whole_algorithm.disambiguation import is_tested
from carrylens.arithmetic.battery.whole_algorithm.scrubbing import ScrubbedCircuit
from carrylens.arithmetic.battery.whole_algorithm.summarise import WholeAlgorithmTold
from carrylens.evidence.facts import Fact


def sentence(given: WholeAlgorithmTold) -> str:
    """What came of the experiment, in a sentence or a few."""
    if not given.answers:
        return "The model answers fewer than half of the questions, so there is nothing to explain."
    main, disambiguations, scrubbed, circuits = given.main, given.disambiguations, given.scrubbed, given.circuits
    rivals = "; ".join(map(_disambiguation_says, disambiguations))
    return (
        f"With two or three sites moved at once the left-to-right hypothesis predicts {main.effect} whole answers, "
        f"null {main.null.value:.3f}; against rivals: {rivals}{_open_says(disambiguations)}; with all "
        f"sites scrubbed {scrubbed[0].effect} answers stay, null {scrubbed[0].null.value:.3f}. "
        f"{_circuit_says(circuits)}"
    )


def _disambiguation_says(disambiguation: Fact) -> str:
    name, told, proposed = (disambiguation.about[key] for key in ("against", "told", "proposed"))
    if not told:
        return f"{name} predicts the same in all {proposed} proposed rows: on these sites nothing tells it from ours"
    ours, rival, n = disambiguation.effect.hits, disambiguation.null.hits, disambiguation.effect.n
    found = f"{name}: ours right in {ours}, the rival in {rival}, of {n} where they differ"
    return found if is_tested(disambiguation) else f"{found}, all that {proposed} proposed rows had, and too few"


def _open_says(disambiguations: Sequence[Fact]) -> str:
    untested = [
        str(disambiguation.about["against"]) for disambiguation in disambiguations if not is_tested(disambiguation)
    ]
    return f"; whether ours is better than {' and '.join(untested)} is untested" if untested else ""


def _circuit_says(circuits: Sequence[ScrubbedCircuit]) -> str:
    if not circuits:
        return "There is no map, so sites are whole places and no claimed circuit could be scrubbed."
    first, *same_operator = circuits
    said = (
        f"Sites are the nodes that the map claims. Its circuit of {len(first.claimed.labels)} sites, scrubbed by the "
        f"map's own labels, keeps {hit_rate(first.computing)} answers, {_beside(first)}."
    )
    for circuit in same_operator:
        said += (
            f" The other operator stood in {first.turned} of the {first.n_sources} sources that could tell; with the "
            f"base's in all {circuit.computing.mean():.3f} stay, {_beside(circuit)}."
        )
    return said


def _beside(circuit: ScrubbedCircuit) -> str:
    by_chance = (each.mean() for each in (circuit.random_computing, circuit.random_resampled, circuit.floor))
    nulls = "random roles {:.3f} and {:.3f}, no agreement {:.3f}".format(*by_chance)
    return f"{circuit.resampled.mean():.3f} with all other nodes resampled; {nulls}"
