"""The planner agrees with the slow, obvious routes on random models, random edits and random questions."""

from __future__ import annotations

import copy
from dataclasses import dataclass

import numpy as np
import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from carrylens.arithmetic import Answers, Operation, Population, PopulationKind, Questions
from carrylens.arithmetic.model_shapes import arithmetic_config, digits_of
from carrylens.interventions import Edit, Engine, Outcomes, add_direction, edge, interchange
from carrylens.model import Transformer
from carrylens.tasks.batches import Columns
from interventions.random_edits import KINDS, RandomEdits, random_model
from interventions.slow_interventions import Asked, hooked_logits, looped_logits

TOLERANCES = {torch.float64: 1e-9, torch.float32: 1e-4}


@dataclass
class Case:
    """A model, edits, and all they are run with."""

    model: Transformer
    edits: list[Edit]
    questions: Questions
    slots: list[Questions]
    reference: Questions
    read: Answers | None
    rng: np.random.Generator

    def outputs(self) -> Columns | None:
        return None if self.read is None else self.read.outputs

    def run(self, model: Transformer, memory: int, places: int) -> Outcomes:
        engine = Engine(model, memory=memory, places=places)
        return engine.run(
            self.edits, self.questions, self.slots, reference=self.reference, read=self.outputs(), logits=True
        )

    def run_each(self, rows: list[tuple[int, int]], memory: int, places: int) -> Outcomes:
        at = np.array([question for _, question in rows])
        return Engine(self.model, memory=memory, places=places).run_each(
            [self.edits[edit] for edit, _ in rows],
            self.questions[at],
            [slot[at] for slot in self.slots],
            reference=self.reference,
            read=None if self.read is None else self.read[at].outputs,
            logits=True,
        )

    def slow(self, edit: int, question: int) -> torch.Tensor:
        return looped_logits(self.asked(question), self.edits[edit])

    def asked(self, question: int) -> Asked:
        return Asked.of(self.model, question, self.questions, self.slots, self.reference, self.read)


@st.composite
def cases(draw: st.DrawFn, kinds: tuple[str, ...] = KINDS, n_edits: int = 3, n_questions: int = 2) -> Case:
    sizes = [(1, 4), (1, 3), (1, 4), (3, 9), (1, 4), (1, 9)]  # digits, layers, heads, d_model, d_head, d_mlp
    config = arithmetic_config(*(draw(st.integers(*size)) for size in sizes))
    seed = draw(st.integers(0, 2**20))
    rng = np.random.default_rng(seed)
    make, digits = RandomEdits(config, rng), digits_of(config)
    asked, *others = (
        Population(PopulationKind.ENRICHED, Operation.MIX, digits).draw(seed + at, 0, n_questions) for at in range(3)
    )
    # Some questions are their own source: such rows may stay clean beside others that do not.
    texts = [
        [own if rng.random() < 0.3 else its for own, its in zip(asked.text(), other.text(), strict=True)]
        for other in others
    ]
    slots = [Questions.parse(some, digits) for some in texts]
    more = Population(PopulationKind.NATURAL, Operation.MIX, digits).draw(seed + 3, 0, 3)
    read = Answers(rng.random(n_questions) < 0.5, rng.integers(0, 10, (n_questions, digits + 1)).astype(np.int8))
    return Case(
        model=random_model(config, seed),
        edits=[make.draw(kinds) for _ in range(n_edits)],
        questions=asked,
        slots=slots,
        reference=Questions.parse(asked.text() + more.text(), digits),
        read=draw(st.sampled_from([None, None, read])),
        rng=rng,
    )


MEMORIES, PLACES = st.sampled_from([1, 10**5, 10**9]), st.sampled_from([1, 13, 64, 2048, 10**6])
SLOWLY = settings(deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])


@settings(SLOWLY, max_examples=30)
@given(case=cases(), memory=MEMORIES, places=PLACES)
def test_every_edit_agrees_with_the_pass_written_from_the_definitions(case: Case, memory: int, places: int) -> None:
    double = case.run(case.model, memory, places)
    single = case.run(copy.deepcopy(case.model).float(), memory, places)
    for edit in range(len(case.edits)):
        for question in range(len(case.questions)):
            slow = case.slow(edit, question)
            for dtype, fast in ((torch.float64, double), (torch.float32, single)):
                assert fast.logits is not None
                gap = np.abs(fast.logits[edit, question] - slow.numpy()).max()
                assert gap <= TOLERANCES[dtype], (dtype, gap, str(case.edits[edit]))


@settings(SLOWLY, max_examples=40)
@given(case=cases(tuple(kind for kind in KINDS if kind not in ("edge", "frozen"))), memory=MEMORIES, places=PLACES)
def test_every_edit_but_edges_agrees_with_plain_hooks(case: Case, memory: int, places: int) -> None:
    fast = case.run(case.model, memory, places)
    assert fast.logits is not None
    for question in range(len(case.questions)):
        asked = case.asked(question)
        for edit in range(len(case.edits)):
            gap = np.abs(fast.logits[edit, question] - hooked_logits(asked, case.edits[edit]).numpy()).max()
            assert gap <= 1e-9, (gap, str(case.edits[edit]))


@settings(SLOWLY, max_examples=40)
@given(case=cases(n_edits=9, n_questions=4), memory=MEMORIES, places=PLACES)
def test_an_edit_of_its_own_for_each_question_gives_what_the_whole_table_has(
    case: Case, memory: int, places: int
) -> None:
    table = case.run(case.model, 10**9, 2048)
    rows = [(edit, question) for edit in range(len(case.edits)) for question in range(len(case.questions))]
    rows = [rows[at] for at in case.rng.permutation(len(rows))[:20]]
    each = case.run_each(rows, memory, places)
    assert table.logits is not None
    assert each.logits is not None
    expected = np.stack([table.logits[row] for row in rows])
    np.testing.assert_allclose(each.logits, expected, rtol=0, atol=1e-9)


@settings(SLOWLY, max_examples=40)
@given(case=cases(("interchange", "part", "edge", "frozen"), n_edits=6), places=PLACES, single=st.booleans())
def test_any_edit_from_the_question_itself_is_clean_to_the_bit(case: Case, places: int, single: bool) -> None:
    model = copy.deepcopy(case.model).float() if single else case.model
    outcome = Engine(model, places=places).run(case.edits, case.questions, [case.questions] * 2, read=None)
    assert np.array_equal(outcome.margins, np.broadcast_to(outcome.clean_margins, outcome.margins.shape))


def test_random_edits_are_of_every_kind_and_mostly_change_something() -> None:
    config = arithmetic_config(2, 2, 2, d_model=6, d_head=2, d_mlp=6)
    make = RandomEdits(config, np.random.default_rng(1))
    edits = [make.draw() for _ in range(400)]
    seen = {
        (type(change).__name__, str(getattr(change, "fill", getattr(change, "norm", ""))))
        for e in edits
        for change in e.changes
    }
    assert len(seen) == 13
    asked, first, second, more = (
        Population(PopulationKind.NATURAL, Operation.ADD, 2).draw(seed, 0, 1) for seed in range(4)
    )
    reference = Questions.parse(asked.text() + more.text())
    outcome = Engine(random_model(config, 3)).run(edits, asked, [first, second], reference=reference, logits=True)
    clean = Engine(random_model(config, 3)).run([interchange("P0L1H0")], asked, asked, logits=True)
    assert outcome.logits is not None
    assert clean.logits is not None
    assert (np.abs(outcome.logits - clean.logits).max((1, 2, 3)) > 1e-3).mean() > 0.75


@pytest.mark.parametrize(
    "lie",
    [
        edge("P0L0H0", "P5L1H1.k"),
        edge("P0L0H0", "P5L1H0.v"),
        edge("P0L0H0 + P5L0H0", "P5L1H0.k"),
        edge("P0L0H0", "P5L1H0.k", share=0.999),
        edge("P0L0H0", "P5L1H0.k", source=1),
        edge("P0L0H0", "P5L1H0.k", norm="frozen"),
        interchange("P0L0H0"),
    ],
    ids=str,
)
def test_an_edge_that_is_slightly_another_is_seen(lie: Edit) -> None:
    config = arithmetic_config(2, 2, 2, d_model=6, d_head=2, d_mlp=6)
    asked, *slots = (Population(PopulationKind.NATURAL, Operation.ADD, 2).draw(seed, 0, 1) for seed in range(3))
    model = random_model(config, 3)
    outcome = Engine(model).run([edge("P0L0H0", "P5L1H0.k")], asked, slots, logits=True)
    assert outcome.logits is not None
    assert np.abs(outcome.logits[0, 0] - looped_logits(Asked.of(model, 0, asked, slots), lie).numpy()).max() > 1e-7


def test_a_direction_is_added_in_the_precision_of_the_model() -> None:
    """A third has no end in binary: rounded to float32 first, it would be 1e-8 off."""
    config = arithmetic_config(1, 1, 1, d_model=6, d_head=2, d_mlp=6)
    model, asked = random_model(config, 3), Questions.parse(["3+4"])
    for sites in ("P3L0H0", "P3L0MLP", "P3L0RESID"):
        edit = add_direction(sites, [1 / 3, 0, 0, 0, 0, 0.1])
        outcome = Engine(model).run([edit], asked, logits=True)
        assert outcome.logits is not None
        gap = np.abs(outcome.logits[0, 0] - hooked_logits(Asked.of(model, 0, asked), edit).numpy()).max()
        assert gap <= 1e-12
