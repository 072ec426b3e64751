"""Many calls run together answer what each answers by itself; what was run before is not run again."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from carrylens.arithmetic.model_shapes import config_of_width
from carrylens.arithmetic.populations import Population, PopulationKind
from carrylens.arithmetic.questions import Operation
from carrylens.arithmetic.task import arithmetic_task
from carrylens.interventions import Engine, ablate, interchange, patch_difference
from carrylens.interventions.edited_pass import EditedPass
from carrylens.interventions.waves import Answered, Call, Steps, Waves
from carrylens.model.transformer import Transformer
from carrylens.nodes import Node, all_nodes

TASK = arithmetic_task(Operation.ADD, 2)
MODEL = Transformer(config_of_width(2, 2, 2, width=24, seed=3)).eval()
ENRICHED = Population(PopulationKind.ENRICHED, Operation.ADD, 2)
NODES = all_nodes(MODEL.config.reads.stop, 2, 2)
SETS = [(node,) for node in NODES] + [tuple(NODES[at : at + 3]) for at in range(0, len(NODES) - 3, 5)]


def calls() -> list[Call]:
    sides = [ENRICHED.draw(seed, 0, 5 + seed) for seed in range(3)]
    others = [[ENRICHED.draw(10 + 2 * seed + at, 0, 5 + seed) for at in range(2)] for seed in range(3)]
    swaps = tuple(interchange(nodes) for nodes in SETS)
    moves = tuple(patch_difference(nodes) for nodes in SETS[:4])
    return [
        Call((ablate(NODES[3:4]), ablate(NODES[5:6], "resample")), sides[0], reference=others[0][1]),
        Call(swaps, sides[0], (others[0][0],)),
        Call(swaps[::2], sides[1], (others[1][0],)),
        Call(moves, sides[2], tuple(others[2])),
    ]


@pytest.mark.parametrize("memory", [1, 1 << 28])
def test_calls_run_together_answer_what_each_answers_alone(memory: int) -> None:
    engine = Engine(MODEL, TASK)
    for call, found in zip(calls(), Waves(engine, memory=memory).run(calls()), strict=True):
        alone = engine.run(call.edits, call.questions, call.sources, reference=call.reference)
        near = alone.close
        assert ((found.tokens == alone.tokens) | near).all()
        assert (found.clean_tokens == alone.clean_tokens).all()
        assert (found.right == alone.right).all()
        assert (found.changed == (found.tokens != found.clean_tokens)).all()


class Counting(Engine):
    n_rows = 0

    def run_rows(self, edits, rows, *given, **named):  # type: ignore[no-untyped-def]
        type(self).n_rows += len(rows[0])
        return super().run_rows(edits, rows, *given, **named)


def test_what_a_stopped_run_has_in_its_store_is_not_run_again(tmp_path: Path) -> None:
    store, (first, *rest) = tmp_path / "outcomes.sqlite", calls()[1:]
    with Counting(MODEL, TASK, hold=1 << 20) as engine:
        before = Waves(engine, store).run([first])[0].tokens
        begun = Counting.n_rows
        assert begun == len(first.edits) * len(first.questions)
    with Counting(MODEL, TASK) as engine:
        after = Waves(engine, store).run([first, *rest])
        assert Counting.n_rows - begun == sum(len(call.edits) * len(call.questions) for call in rest)
    assert (before == after[0].tokens).all()


def test_a_line_is_run_once_however_often_it_is_asked_for() -> None:
    Counting.n_rows, (_, first, *_) = 0, calls()
    waves = Waves(Counting(MODEL, TASK))
    again = Call(first.edits[:3], first.questions, first.sources)
    whole, some = waves.run([first, again])
    (later,) = waves.run([again])
    assert Counting.n_rows == len(first.edits) * len(first.questions)
    assert (whole.tokens[:3] == some.tokens).all()
    assert (some.tokens == later.tokens).all()


def test_steps_go_on_with_what_their_own_calls_answered() -> None:
    _, first, second, _ = calls()

    def work(call: Call, n_times: int) -> Steps[list[Answered]]:
        found: list[Answered] = []
        for at in range(n_times):
            found += yield [Call(call.edits[at : at + 1], call.questions, call.sources)]
        return found

    waves, seen = Waves(Engine(MODEL, TASK)), list[tuple[int, int]]()
    one, none, other = waves.together(
        [work(first, 2), work(first, 0), work(second, 3)], lambda *done: seen.append(done)
    )
    assert none == []
    for call, found in ((first, one), (second, other)):
        (whole,) = waves.run([call])
        assert np.array_equal(np.concatenate([each.tokens for each in found]), whole.tokens[: len(found)])
    assert seen == [(1, 3), (2, 3), (3, 3)]


def test_a_call_for_one_output_answers_there_what_one_for_all_does() -> None:
    _, call, other, _ = calls()
    waves = Waves(Engine(MODEL, TASK, hold=1 << 22))
    wholes = waves.run([call, other])
    for whole, given in zip(wholes, (call, other), strict=True):
        for output in range(whole.right.shape[1]):
            (one,) = waves.run([Call(given.edits, given.questions, given.sources, output=output)])
            assert np.array_equal(one.tokens[..., output], whole.tokens[..., output])
            assert np.array_equal(one.clean_tokens, whole.clean_tokens)


def test_a_call_for_one_output_computes_no_other() -> None:
    _, call, *_ = calls()
    (found,) = Waves(Engine(MODEL, TASK)).run([Call(call.edits, call.questions, call.sources, output=0)])
    assert np.array_equal(
        found.tokens[..., 1:], np.broadcast_to(found.clean_tokens[:, 1:], found.tokens[..., 1:].shape)
    )


def test_rows_that_can_do_nothing_answer_as_if_untouched_and_are_not_run(monkeypatch: pytest.MonkeyPatch) -> None:
    n_run, whole = list[int](), EditedPass.edited_logits

    def counted(self: EditedPass) -> object:
        n_run.append(len(self.touched))
        return whole(self)

    _, call, *_ = calls()
    unread = Node(0, MODEL.config.n_layers - 1, 0)  # no later component reads it
    own = call.questions  # the question as its own source
    (found,) = Waves(Engine(MODEL, TASK)).run([Call((interchange((unread,)),), own, call.sources)])
    monkeypatch.setattr(EditedPass, "edited_logits", counted)
    (same,) = Waves(Engine(MODEL, TASK)).run([Call(call.edits[:3], own, (own,))])
    (other,) = Waves(Engine(MODEL, TASK)).run([Call((interchange((unread,)),), own, call.sources)])
    assert not n_run
    assert not found.changed.any()
    assert not same.changed.any()
    assert not other.changed.any()
    (moved,) = Waves(Engine(MODEL, TASK)).run([Call(call.edits[:8], own, call.sources)])
    assert sum(n_run)
    assert moved.changed.any()


def test_a_store_that_another_run_filled_is_read_though_it_was_empty_for_the_first(tmp_path: Path) -> None:
    store, (_, first, second, *_) = tmp_path / "outcomes.sqlite", calls()
    for call, later in ((first, second), (second, first)):
        with Counting(MODEL, TASK) as engine:
            waves = Waves(engine, store)
            before = waves.run([call])[0].tokens
            n_rows = Counting.n_rows
            assert np.array_equal(waves.run([call, later])[0].tokens, before)
            assert Counting.n_rows - n_rows == (0 if later is first else len(later.edits) * len(later.questions))
