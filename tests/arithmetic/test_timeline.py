import re
import sys

import numpy as np
import pytest
from numpy.typing import NDArray

from arithmetic.slow_route import Numbers, Sums, exact, random_sums
from carrylens.arithmetic import Operation, Questions, algorithm, first_computable, one_layer, ripple, timeline
from carrylens.arithmetic.algorithm_model import Algorithm
from carrylens.arithmetic.variables import D_PRIME, MB, MV, NV, OPR, SA, SGN, ST, SV, A, D, U
from carrylens.errors import CarryLensError
from carrylens.tasks.variables import UNKNOWN, Variable

LEFT_TO_RIGHT = [algorithm(operation, digits) for operation in Operation for digits in (1, 2)]
RIVALS = [
    *(ripple(operation, digits) for operation in Operation for digits in (1, 2)),
    *(one_layer(digits, sum_nine) for digits in (1, 2) for sum_nine in (False, True)),
]
MODELS = LEFT_TO_RIGHT + RIVALS


def model_id(model: Algorithm) -> str:
    return f"{model.name} d{model.digits}"


def every_sequence(digits: int) -> Sums:
    """All questions, both operators, in the order that gives one axis to each token."""
    numbers = np.arange(10**digits, dtype=np.int32)
    axes = np.broadcast_arrays(numbers[:, None, None], np.array([False, True])[:, None], numbers)
    first, minus, second = (axis.reshape(-1) for axis in axes)
    return Sums(first, second, minus, digits)


def value_of(model: Algorithm, name: str, sums: Sums) -> NDArray[np.int8]:
    """The variable by whole numbers; the one-layer rival's answers are its own."""
    family, _, rest = name.partition("[")
    if not model.name.startswith("one-layer") or family not in ("A", "SGN"):
        return exact(name, sums, model.operation.value)
    k, carry = int(rest.rstrip("]") or 0), "SU" if "sum 9" in model.name else "SC"
    if family == "SGN":
        return np.zeros(len(sums.first), dtype=np.int8)
    below = exact(f"{carry}[{k - 1}]", sums) if k else np.zeros(len(sums.first), dtype=np.int8)
    return below if k == sums.digits else (exact(f"SA[{k}]", sums) + below) % np.int8(10)


def unseen_axes(digits: int, position: int, half_read: bool) -> tuple[int, ...]:
    """The tokens still to come; without `half_read` a column counts as seen only once both its digits are."""
    to_come = set(range(position + 1, 2 * digits + 1))
    if not half_read:
        to_come |= {axis - digits - 1 for axis in to_come if axis > digits}
    return tuple(sorted(to_come))


def settled(values: NDArray[np.int8], digits: int, half_read: bool = True) -> NDArray[np.int8]:
    """For every sequence and position the value that all completions of what is seen share, else UNKNOWN."""
    laid_out = values.reshape((10,) * digits + (2,) + (10,) * digits)
    known = []
    for position in range(2 * digits + 2):
        unseen = unseen_axes(digits, position, half_read)
        low, high = laid_out.min(axis=unseen, keepdims=True), laid_out.max(axis=unseen, keepdims=True)
        known.append(np.broadcast_to(np.where(low == high, low, np.int8(UNKNOWN)), laid_out.shape).reshape(-1))
    return np.stack(known, axis=1)


def taken_by(model: Algorithm, sums: Sums) -> NDArray[np.bool_]:
    return {Operation.ADD: ~sums.minus, Operation.SUB: sums.minus, Operation.MIX: sums.minus | True}[model.operation]


def may_be_late(model: Algorithm, variable: Variable) -> bool:
    """Answer digits of a subtraction may be called unknown too long; nothing else may."""
    return variable.name == "A" and variable.index != model.digits and model.operation is not Operation.ADD


@pytest.mark.parametrize("half_read", [False, True])
@pytest.mark.parametrize("model", LEFT_TO_RIGHT, ids=model_id)
def test_all_but_the_digits_of_a_difference_is_known_as_soon_as_it_can_be(model: Algorithm, half_read: bool) -> None:
    everything = every_sequence(model.digits)
    rows = taken_by(model, everything)
    variables = [variable for variable in model.variables if not may_be_late(model, variable)]
    known = timeline(model, everything.questions()[rows], read=variables, half_read=half_read)
    for variable in variables:
        values = value_of(model, str(variable), everything)
        expected = settled(values, model.digits, half_read or variable in model.inputs)[rows]
        np.testing.assert_array_equal(known.settled(variable), expected, err_msg=str(variable))


@pytest.mark.parametrize("half_read", [False, True])
@pytest.mark.parametrize("model", MODELS, ids=model_id)
def test_nothing_is_ever_known_too_soon_and_all_is_known_in_the_end(model: Algorithm, half_read: bool) -> None:
    everything = every_sequence(model.digits)
    rows = np.random.default_rng(0).permutation(np.flatnonzero(taken_by(model, everything)))[:150]
    known = timeline(model, everything.questions()[rows], half_read=half_read)
    for variable in model.variables:
        values = value_of(model, str(variable), everything)
        possible = settled(values, model.digits, half_read or variable in model.inputs)[rows]
        found = known.settled(variable)
        assert (found[:, -2:] == values[rows, None]).all()  # at D'0 and at =
        assert ((found == possible) | (found == UNKNOWN)).all(), variable
        if may_be_late(model, variable) and model in LEFT_TO_RIGHT:
            adds = ~everything.minus[rows]
            np.testing.assert_array_equal(found[adds], possible[adds], err_msg="a sum's digits are known in time")


def completions(laid_out: Numbers, question: str, position: int) -> set[int]:
    """The values over all questions that begin as `question` does up to `position`; the operator has no axis."""
    seen = [int(token) for token in question[: position + 1] if token.isdigit()]
    return set(np.unique(laid_out[tuple(seen)]).tolist())


@pytest.mark.parametrize("operation", [Operation.ADD, Operation.SUB])
def test_samples_of_three_digits_are_known_just_when_all_completions_agree(operation: Operation) -> None:
    model, minus = algorithm(operation, 3), operation is Operation.SUB
    numbers = np.arange(1000, dtype=np.int32)
    table = Sums(np.repeat(numbers, 1000), np.tile(numbers, 1000), np.full(10**6, minus), 3)
    questions = random_sums(seed=1, count=25, digits=3, minus=minus).questions()
    known = timeline(model, questions, half_read=True)
    for variable in model.variables:
        if variable == OPR:
            continue
        laid_out, found = exact(str(variable), table, operation.value).reshape((10,) * 6), known.settled(variable)
        for row, text in enumerate(questions.text()):
            for position in range(8):
                possible = completions(laid_out, text, position)
                value = possible.pop() if len(possible) == 1 else UNKNOWN
                late = may_be_late(model, variable) and found[row, position] == UNKNOWN
                assert late or found[row, position] == value, (variable, text, position)


@pytest.mark.parametrize("model", MODELS, ids=model_id)
def test_a_variable_is_first_computable_where_it_is_settled_for_every_question(model: Algorithm) -> None:
    everything = every_sequence(model.digits)
    for variable in model.variables:
        unknown = (settled(value_of(model, str(variable), everything), model.digits) == UNKNOWN).any(axis=0)
        earliest = int(np.flatnonzero(unknown)[-1]) + 1 if unknown.any() else 0
        assert first_computable(model, variable) == earliest, variable


def test_six_digits_become_computable_where_the_paper_draws_them() -> None:
    addition, mixed = algorithm(Operation.ADD, 6), algorithm(Operation.MIX, 6)
    assert [first_computable(addition, ST[k]) for k in range(5, -1, -1)] == [7, 8, 9, 10, 11, 12]
    assert [first_computable(addition, SA[k]) for k in range(5, -1, -1)] == [7, 8, 9, 10, 11, 12]
    assert {first_computable(addition, SV[k]) for k in range(6)} == {12}
    assert [first_computable(mixed, variable) for variable in (D[5], D[0], OPR, D_PRIME[5], SGN, A[6], A[0])] == [
        *(0, 5, 6, 7, 12, 12, 12)
    ]


def test_folding_from_the_left_gives_the_carry_that_folding_upwards_gives() -> None:
    addition = algorithm(Operation.ADD, 3)
    states = [(x, y, z) for x in (0, 1, U) for y in (0, 1, U) for z in (0, 1)]
    blank = Questions.parse(["0+0"] * len(states), 3)
    do = {ST[2 - at]: [row[at] for row in states] for at in range(3)}
    found = addition.run(blank, do)[SV[2]].tolist()

    def triadd(x: int, y: int) -> int:
        return y if x == U else x

    assert found == [triadd(triadd(x, y), z) for x, y, z in states]


@pytest.mark.parametrize(
    ("operation", "tri", "resolved"),
    [(Operation.ADD, "ST", "SV"), (Operation.SUB, "MB", "MV"), (Operation.SUB, "NB", "NV")],
)
def test_what_is_known_at_each_place_is_the_fold_of_the_columns_read(
    operation: Operation, tri: str, resolved: str
) -> None:
    n = 6
    questions = random_sums(seed=2, count=2000, digits=n, minus=operation is Operation.SUB).questions()
    model = algorithm(operation, n)
    values = model.run(questions)
    chain = [Variable(resolved, k) for k in range(n)]
    known, sooner = (timeline(model, questions, read=chain, half_read=half_read) for half_read in (False, True))
    for top in range(n):
        fold = np.full(len(questions), U)
        for k in range(top, -1, -1):
            fold = np.where(fold == U, values[Variable(tri, k)], fold)
            at = 2 * n - k  # where D'[k] stands
            assert (known.state(chain[top])[:, at] == fold).all()
            early = sooner.state(chain[top])[:, at]
            assert ((early == fold) | (fold == U)).all()
        assert (fold != U).all()


def test_the_carry_of_the_paper_s_cascade_resolves_at_its_last_token() -> None:
    known = timeline(algorithm(Operation.ADD, 9), Questions.parse(["555555555+444444448"]))
    for k in range(9):
        assert known.state(SV[k])[0].tolist() == [U] * 18 + [1, 1]
        assert known.settled(SV[k])[0].tolist() == [UNKNOWN] * 18 + [1, 1]
    # At D'k the sum of column k is known to be 9, which is U for good; before that it is U for want of digits.
    assert known.settled(ST[8])[0].tolist() == [UNKNOWN] * 10 + [U] * 10


def test_the_sign_of_the_paper_s_subtraction_resolves_at_its_last_token() -> None:
    known = timeline(algorithm(Operation.SUB, 3), Questions.parse(["325-329", "325-129"]))
    assert known.state(MV[2]).tolist() == [[U, U, U, U, U, U, 1, 1], [U, U, U, U, 0, 0, 0, 0]]
    assert known.state(SGN).tolist() == [[U, U, U, U, U, U, 1, 1], [U, U, U, U, 0, 0, 0, 0]]
    assert known.settled(A[3]).tolist() == [[0] * 8, [0] * 8]
    assert known.settled(A[0])[:, -1].tolist() == [4, 6]


def test_first_operand_digits_alone_can_settle_a_carry() -> None:
    model, questions = algorithm(Operation.MIX, 2), Questions.parse(["00+99", "99-00"])
    known = timeline(model, questions, read=[SV[1], MV[1], NV[1], MB[0]], half_read=True)
    assert known.state(SV[1])[0].tolist() == [U, 0, 0, 0, 0, 0]  # 00 plus at most 99 carries nothing
    assert known.state(MV[1])[1].tolist() == [U, 0, 0, 0, 0, 0]  # 99 less at most 99 borrows nothing
    assert known.state(NV[1])[0].tolist() == [U, 0, 0, 0, 0, 0]
    assert known.settled(MB[0])[1].tolist() == [UNKNOWN, 0, 0, 0, 0, 0]
    waiting = timeline(model, questions, read=[SV[1], MV[1]])
    assert waiting.state(SV[1])[0].tolist() == [U, U, U, U, 0, 0]
    assert waiting.state(MV[1])[1].tolist() == [U, U, U, 0, 0, 0]


def test_a_digit_has_no_state() -> None:
    known = timeline(algorithm(Operation.ADD, 2), Questions.parse(["12+34"]))
    for variable in (A[0], SA[1], D[0]):
        with pytest.raises(CarryLensError, match=re.escape(f"settled({variable})")):
            known.state(variable)


def test_only_what_was_read_is_in_the_timeline() -> None:
    model, questions = algorithm(Operation.ADD, 3), Questions.parse(["555+448"])
    some, everything = timeline(model, questions, read=[SV[1]]), timeline(model, questions)
    assert (some.settled(SV[1]) == everything.settled(SV[1])).all()
    with pytest.raises(CarryLensError, match=r"SV\[2\].*`read`"):
        some.settled(SV[2])
    with pytest.raises(CarryLensError, match=r"'left-to-right add'.*SV\[3\]"):
        some.settled(SV[3])
    with pytest.raises(CarryLensError, match=r"'left-to-right add'.*MV\[1\]"):
        timeline(model, questions, read=[MV[1]])
    with pytest.raises(CarryLensError, match=r"'left-to-right add'.*MV\[1\]"):
        first_computable(model, MV[1])


def test_a_timeline_worked_out_in_small_portions_is_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    model, questions = algorithm(Operation.SUB, 2), random_sums(seed=3, count=40, digits=2, minus=True).questions()
    whole = timeline(model, questions)
    monkeypatch.setattr(sys.modules["carrylens.tasks.timeline"], "_MOST_CELLS", 5000)
    portions = timeline(model, questions)
    assert all((whole.settled(variable) == portions.settled(variable)).all() for variable in model.variables)


@pytest.mark.parametrize("operation", list(Operation))
def test_the_timeline_of_no_questions_is_empty(operation: Operation) -> None:
    model = algorithm(operation, 2)
    known = timeline(model, Questions.parse([], 2))
    assert {known.settled(variable).shape for variable in model.variables} == {(0, 6)}
