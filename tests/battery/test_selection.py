"""Selection: a planted choice is one direction, and its state turns every digit.

Every planted mixed circuit keeps operator and sign in a direction each. With an idle layer behind it, what enters the
last layer is a digit that is chosen already, and that takes many dimensions.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch

from battery.plants import SMALL, outcome_of, planted_subject, untrained_subject
from carrylens.arithmetic.classes import is_negative
from carrylens.arithmetic.questions import Operation
from carrylens.battery.selection import OTHER, SAME, Ranked, judge_selection, needed_rank, selector_edits
from carrylens.battery.states import levels_of, read_states
from carrylens.battery.subject import Subject
from carrylens.battery.subspaces import combined
from carrylens.battery.swapping import Swapped
from carrylens.battery.turning import Turn, turned_pairs
from carrylens.discovery.swaps import answer_tokens
from carrylens.evidence.rates import Rate
from carrylens.hypothesis.verdicts import Verdict
from carrylens.model.transformer import Transformer


def test_a_planted_choice_is_one_direction() -> None:
    outcome = outcome_of("selection", planted_subject(Operation.MIX, 2))
    assert outcome.verdict is Verdict.REFUTED
    states = [fact for fact in outcome.facts if "site" in fact.about]
    assert len(states) == 8
    assert all(fact.effect.value == 1 and fact.null.hits == 0 for fact in states)
    single = [fact for fact in outcome.facts if fact.about.get("rank") == 1]
    assert len(single) == 6
    assert all(fact.effect.value > 0.5 and fact.null.value < 0.2 for fact in single)
    assert all(fact.effect.value == 1 for fact in single if fact.about["source"] == SAME)


def test_a_digit_chosen_before_the_last_layer_takes_more_than_one_direction() -> None:
    # One direction turns a third of the digits, which few pairs could not tell from a half.
    outcome = outcome_of("selection", subject_behind_an_idle_layer(), replace(SMALL, n_pairs=96))
    assert outcome.verdict is Verdict.SUPPORTED
    states = [fact for fact in outcome.facts if "site" in fact.about]
    assert all(fact.effect.value == 1 and fact.null.hits == 0 for fact in states)


def subject_behind_an_idle_layer() -> Subject:
    planted = planted_subject(Operation.MIX, 2)
    config = planted.model.config
    model = Transformer(replace(config, n_layers=config.n_layers + 1)).eval()
    missing = model.load_state_dict(planted.model.state_dict(), strict=False).missing_keys
    with torch.no_grad():
        for name in missing:
            model.get_parameter(name).zero_()
    return Subject("idle last layer", model, Operation.MIX)


@pytest.mark.parametrize("turn", list(Turn))
def test_turns_change_the_digit_and_their_nulls_do_not(turn: Turn) -> None:
    turns = turned_pairs(turn, 3, 1, 40, seed=3)
    assert len(turns) == 40
    assert (turns.before != turns.after).all()
    assert np.array_equal(answer_tokens(turns.null)[:, 3], turns.before)
    assert np.array_equal(turns.null.first[:, 1], turns.base.first[:, 1])
    assert not (turns.null.first == turns.base.first).all(1).all()
    before, after = (is_negative(side) for side in (turns.base, turns.other))
    assert (before == (turn is Turn.FROM_NEGATIVE)).all()
    assert (after == (turn is Turn.TO_NEGATIVE)).all()
    if turn.of_operator:
        assert np.array_equal(answer_tokens(turns.same)[:, 3], turns.after)


def test_the_combiner_alone_gives_what_the_engine_gives() -> None:
    subject = planted_subject(Operation.MIX, 2)
    turns = turned_pairs(Turn.TO_ADD, 2, 1, 20, seed=4)
    by_engine = subject.engine.run(selector_edits(subject, turns.turn, 1)[1:], turns.base, turns.other).tokens[0, :, 2]
    states = read_states(subject.model, turns.other, [subject.predicting(1)], levels_of(subject.last_layer + 1)[-2:-1])
    assert np.array_equal(combined(subject, states[:, 0, 0]), by_engine)


def ranked(hits: dict[int, int], null: int = 2) -> list[Ranked]:
    return [Ranked(Turn.TO_ADD, OTHER, rank, Swapped(Rate(n, 40), Rate(null, 40))) for rank, n in hits.items()]


def test_a_choice_of_many_dimensions_is_supported_and_one_direction_refutes_it() -> None:
    states = [Verdict.SUPPORTED] * 3
    wide = ranked({1: 0, 2: 4, 4: 39})
    assert judge_selection(states, wide) is Verdict.SUPPORTED
    assert needed_rank(wide, Turn.TO_ADD, OTHER) == 4
    assert judge_selection(states, ranked({1: 39})) is Verdict.REFUTED
    assert judge_selection(states, ranked({1: 39}, null=39)) is Verdict.INCONCLUSIVE
    assert judge_selection([Verdict.REFUTED, *states], wide) is Verdict.REFUTED
    assert needed_rank(ranked({1: 0, 2: 39}, null=39), Turn.TO_ADD, OTHER) is None


def test_untrained_weights_and_models_that_only_add_are_not_tested() -> None:
    assert outcome_of("selection", untrained_subject(Operation.MIX)).verdict is Verdict.UNTESTED
    assert outcome_of("selection", planted_subject(Operation.ADD, 2)).verdict is Verdict.UNTESTED
