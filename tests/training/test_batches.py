"""Examples: the ids a model reads and predicts, step by step, for any task."""

import pytest
import torch

from carrylens.arithmetic import Operation, answers
from carrylens.arithmetic.populations import Population, PopulationKind
from carrylens.arithmetic.task import arithmetic_task
from carrylens.arithmetic.tokens import encode
from carrylens.errors import CarryLensError
from carrylens.training.batches import NO_CONDITION, TrainingBatches, draw_examples
from carrylens.training.losses import answered_right, output_logits
from training.bit_parity import BITS, parity_task


@pytest.mark.parametrize("operation", list(Operation))
@pytest.mark.parametrize("kind", list(PopulationKind))
def test_the_ids_of_arithmetic_are_those_of_its_own_encoding(operation: Operation, kind: PopulationKind) -> None:
    task = arithmetic_task(operation, 3)
    examples = draw_examples(task, task.samplers[kind.value], 5, 30, 200)
    questions = Population(kind, operation, 3).draw(5, 30, 200)
    assert examples.tokens.tolist() == encode(questions, answers(questions)).tolist()
    assert torch.equal(examples.wanted, examples.tokens[:, -5:])
    names = [task.watched[place].name for place in examples.condition.tolist()]
    assert names == ["sub" if minus else "add" for minus in questions.minus]


def test_every_step_has_its_own_batch_wherever_one_starts() -> None:
    task, cpu = parity_task(), torch.device("cpu")
    batches = TrainingBatches(task, task.samplers["every"], 3, 5000, cpu)
    for step in (7, 0, 2, 3):
        alone = draw_examples(task, task.samplers["every"], 3, step * 5000, 5000)
        assert torch.equal(batches.at(step).tokens, alone.tokens)
        assert torch.equal(batches.at(step).wanted, alone.wanted)


def test_a_question_of_no_condition_is_marked_so() -> None:
    task = parity_task()
    questions = task.samplers["every"].draw(1, 0, 50)
    condition = draw_examples(task, task.samplers["every"], 1, 0, 50).condition
    assert condition.tolist() == [0 if bit else NO_CONDITION for bit in questions.column(BITS[0]).tolist()]


def test_outputs_are_read_where_the_layout_reads_them() -> None:
    task = parity_task(fed_back=False)  # a position that is not read stands between two that are
    examples = draw_examples(task, task.samplers["every"], 1, 0, 20)
    logits = torch.zeros(20, len(task.layout.reads), 6)
    for at, place in enumerate(position - task.layout.reads.start for position in task.layout.read_positions):
        logits[torch.arange(20), place, examples.wanted[:, at]] = 1
    assert bool(answered_right(output_logits(logits, task.layout), examples.wanted).all())
    with pytest.raises(CarryLensError):
        output_logits(logits[:, 1:], task.layout)
