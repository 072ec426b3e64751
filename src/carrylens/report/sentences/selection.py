"""The sentence of `selection`: whether the state chooses at every digit, and of which rank the choice is.

Takes  what the experiment's summary was made of.
Gives  text.
Never  measures, or judges.
"""

from __future__ import annotations

from carrylens.arithmetic.battery.measures.interchange_rates import pool_rates
from carrylens.arithmetic.battery.selection.measure import BranchSelection
from carrylens.arithmetic.battery.selection.subspaces import OTHER, SAME
from carrylens.arithmetic.battery.selection.summarise import SelectionTold, needed_rank, residual_stream
from carrylens.arithmetic.battery.subject import Subject
from carrylens.arithmetic.questions import Operation
from carrylens.claims.verdicts import Verdict


def sentence(given: SelectionTold) -> str:
    """What came of the experiment, in a sentence or a few."""
    subject, some, verdicts = given.subject, given.some, given.verdicts
    if subject.operation is not Operation.MIX:
        return "Only a model that adds and subtracts has something to choose."
    if not some:
        return "A model of one layer chooses and answers at once: there is no state to interchange before that."
    if set(verdicts) == {Verdict.UNTESTED}:
        return "The model answers fewer than half of the questions, so there is no choice to be turned."
    parts = []
    for name, mine, verdict in (("operator", True, verdicts[0]), ("sign", False, verdicts[1])):
        turns = [each for each in some if each.turn.of_operator is mine]
        state = pool_rates([one for each in turns for one in each.states.values()])
        text = f"{name} {verdict.value}: digits follow the whole state in {state.effect.value:.2f}"
        text += f", null {state.null.value:.2f}"
        if not mine:
            whole = pool_rates([one for each in turns for one in each.sign_place.values()])
            text += f", and the sign's place in {whole.effect.value:.2f}, null {whole.null.value:.2f}"
        parts.append(text + "".join(f"; {_rank_text(subject, each)}" for each in turns))
    text = ". ".join(f"{part[0].upper()}{part[1:]}" for part in parts)
    return f"{text}."


def _rank_text(subject: Subject, each: BranchSelection) -> str:
    where = f"{each.turn.value}, {residual_stream(subject, each.layer)}"
    if not each.found:
        return f"{where}: fewer than half follow the whole state, so no rank is asked for"
    parts = []
    for source in (SAME, OTHER):
        mine = {one.rank: one for one in each.ranked if one.source == source}
        rank = needed_rank(each.ranked, each.turn, source)
        one = mine[rank or max(mine)]
        share = f"{one.followed.effect.value / max(one.ceiling.value, 1e-9):.2f} of the ceiling"
        told = f"rank {rank} suffices ({share})" if rank else f"none up to {max(mine)} suffices (that: {share})"
        parts.append(f"{told} with {source}")
    return f"{where}: {', '.join(parts)}"
