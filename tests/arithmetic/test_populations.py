from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from arithmetic.slow_route import PROPERTY, chi_square, chi_square_limit, is_share, slow_labels
from carrylens.arithmetic import Operation, Population, PopulationKind, Questions
from carrylens.arithmetic import populations as populations_room
from carrylens.arithmetic.operands import digit_pairs
from carrylens.arithmetic.populations import PAPER_BATCH
from carrylens.errors import CarryLensError
from carrylens.tasks.draws import draw

ADD, SUB, MIX = Operation.ADD, Operation.SUB, Operation.MIX
NATURAL, PAPER, ENRICHED, STRUCTURED = PopulationKind
KINDS = list(product(PopulationKind, Operation))


def numbers(digits: NDArray[np.int8]) -> NDArray[np.int64]:
    return sum((digits[:, k].astype(np.int64) * 10**k for k in range(digits.shape[1])), np.zeros(len(digits), np.int64))


@PROPERTY
@given(
    kind=st.sampled_from(KINDS),
    digits=st.integers(1, 40),
    seed=st.integers(0, 2**70),
    start=st.one_of(st.integers(0, 300), st.integers(0, 10**12)),
    counts=st.lists(st.integers(0, 90), min_size=1, max_size=4),
)
def test_a_question_is_the_same_whatever_batch_it_is_drawn_in(
    kind: tuple[PopulationKind, Operation], digits: int, seed: int, start: int, counts: list[int]
) -> None:
    recipe, operation = kind
    whole = Population(recipe, operation, digits).draw(seed, start, sum(counts))
    assert len(whole) == sum(counts)
    assert whole.digits == digits
    at = 0
    for count in counts:  # a population made anew each time: nothing is remembered
        assert Population(recipe, operation, digits).draw(seed, start + at, count) == whole[at : at + count]
        at += count
    for row in range(0, sum(counts), 17):
        assert Population(recipe, operation, digits).draw(seed, start + row, 1) == whole[row : row + 1]


@pytest.mark.parametrize(("recipe", "operation"), KINDS)
def test_a_population_has_questions_of_its_operation_alone(recipe: PopulationKind, operation: Operation) -> None:
    minus = Population(recipe, operation, 5).draw(1, 0, 2000).minus
    assert {ADD: not minus.any(), SUB: minus.all(), MIX: minus.any() and not minus.all()}[operation]


def test_seeds_recipes_operations_and_widths_all_make_a_difference() -> None:
    seeds = (0, 1, 2**32, 2**64 + 1)
    operands = [Population(*kind, 8).draw(seed, 0, 50) for kind in KINDS for seed in seeds]
    assert len({(batch.first.tobytes(), batch.second.tobytes()) for batch in operands}) == len(operands)
    for recipe in PopulationKind:
        narrow, wide = (Population(recipe, ADD, digits).draw(0, 0, 50) for digits in (8, 9))
        assert narrow.first.tolist() != wide.first[:, :8].tolist()
        assert narrow.first.tolist() != wide.first[:, 1:].tolist()


def test_no_two_populations_share_their_draws() -> None:
    populations = [Population(*kind, digits) for kind in KINDS for digits in (1, 8, 40)]
    keys = [population.key(seed) for population in populations for seed in (0, 1, 2**32)]
    assert len(set(keys)) == len(keys)


@pytest.mark.parametrize(("recipe", "operation"), KINDS)
def test_a_question_far_down_a_population_is_as_quick_as_the_first(
    recipe: PopulationKind, operation: Operation
) -> None:
    far = Population(recipe, operation, 40).draw(1, 10**15 + 7, 2)
    assert far[1:] == Population(recipe, operation, 40).draw(1, 10**15 + 8, 1)


@pytest.mark.parametrize("recipe", [NATURAL, PAPER, ENRICHED])
def test_questions_of_a_population_do_not_repeat(recipe: PopulationKind) -> None:
    texts = Population(recipe, MIX, 20).draw(3, 0, 5000).text()
    assert len(set(texts)) > 4990


@pytest.mark.parametrize("recipe", list(PopulationKind))
@pytest.mark.parametrize(("seed", "start", "count"), [(-1, 0, 1), (0, -1, 1), (0, -64, 1), (0, 0, -1), (0, 100, -1)])
def test_negative_seeds_starts_and_counts_are_refused(
    recipe: PopulationKind, seed: int, start: int, count: int
) -> None:
    with pytest.raises(CarryLensError, match="start.*count.*seed"):
        Population(recipe, ADD, 4).draw(seed, start, count)


def test_what_is_no_kind_or_no_operation_has_no_population() -> None:
    with pytest.raises(CarryLensError, match=r"'natural'.*PopulationKind\.NATURAL"):
        Population("natural", ADD, 4)  # type: ignore[arg-type]
    with pytest.raises(CarryLensError, match=r"'add'.*Operation\.ADD"):
        Population(NATURAL, "add", 4)  # type: ignore[arg-type]


@pytest.mark.parametrize("digits", [0, 41])
def test_a_width_that_is_none_has_no_population(digits: int) -> None:
    with pytest.raises(CarryLensError, match=rf"^{digits}\b.*40"):
        Population(NATURAL, ADD, digits)


@pytest.mark.parametrize(("operation", "share"), [(ADD, 0.5), (SUB, 1.0), (MIX, -0.1), (MIX, 1.1), (MIX, float("nan"))])
def test_a_share_of_subtractions_that_does_not_fit_is_refused(operation: Operation, share: float) -> None:
    with pytest.raises(CarryLensError, match=rf"{share}.*'{operation.value}'.*mix"):
        Population(NATURAL, operation, 4, minus_share=share)


@pytest.mark.parametrize(("recipe", "share"), [(NATURAL, 0.5), (ENRICHED, 0.5), (STRUCTURED, 0.5), (PAPER, 0.66)])
def test_the_share_of_subtractions_is_the_recipe_s_own_unless_it_is_given(recipe: PopulationKind, share: float) -> None:
    step = PAPER_BATCH if recipe is PAPER else 1
    for given_share in (None, 0.0, 0.2, 0.8, 1.0):
        minus = Population(recipe, MIX, 1, minus_share=given_share).draw(4, 0, 4000 * step).minus[::step]
        assert is_share(int(minus.sum()), 4000, share if given_share is None else given_share)


def test_natural_digits_are_uniform() -> None:
    # Chi-square over all digit pairs of each column and of neighbouring columns; each bound is one in a million.
    questions = Population(NATURAL, MIX, 6).draw(5, 0, 200_000)
    digits = np.concatenate([questions.first, questions.second], axis=1).astype(np.int64)
    for left, right in [*((k, k + 6) for k in range(6)), *((k, k + 1) for k in range(11))]:
        counts = np.bincount(digits[:, left] * 10 + digits[:, right], minlength=100)
        assert chi_square(counts, 2000.0) < chi_square_limit(99)
    with_operator = np.bincount(digits[:, 0] * 2 + questions.minus, minlength=20)
    assert chi_square(with_operator, 10_000.0) < chi_square_limit(19)


def paper_batches(operation: Operation, digits: int, n_batches: int) -> tuple[Questions, NDArray[np.int64]]:
    questions = Population(PAPER, operation, digits).draw(6, 0, n_batches * PAPER_BATCH)
    return questions, np.repeat(np.arange(n_batches), PAPER_BATCH)


def per_batch(cells: NDArray[np.bool_], n_batches: int) -> NDArray[np.int64]:
    return cells.reshape(n_batches, -1).sum(axis=1)


@pytest.mark.parametrize("digits", [2, 5, 6])
def test_the_paper_enriches_two_fifths_of_its_addition_batches_with_two_fifths_nines(digits: int) -> None:
    n_batches, cells = 3000, 64 * digits
    questions, _ = paper_batches(ADD, digits, n_batches)
    nines = per_batch(questions.first + questions.second == 9, n_batches)
    forced = int(0.4 * cells)
    enriched = nines >= forced
    assert is_share(int(enriched.sum()), n_batches, 0.40)
    assert nines[~enriched].max() < forced - 10
    # Beyond the forced cells, one in ten of the others sums to 9 by itself: off by one would show.
    for chosen, least, free in ((enriched, forced, cells - forced), (~enriched, 0, cells)):
        n_free = free * int(chosen.sum())
        assert is_share(int(nines[chosen].sum()) - least * int(chosen.sum()), n_free, 0.1)


def test_the_paper_puts_its_nines_in_any_column_of_any_question() -> None:
    questions, batch = paper_batches(ADD, 5, 1000)
    is_nine = questions.first + questions.second == 9
    enriched = (per_batch(is_nine, 1000) >= 128)[batch]
    assert all(is_share(int(is_nine[enriched][:, k].sum()), int(enriched.sum()), 0.4 + 0.6 * 0.1) for k in range(5))
    for digits in (questions.first, questions.second):  # a nines' complement of a uniform digit is uniform
        counts = np.bincount(digits[enriched].reshape(-1), minlength=10)
        assert chi_square(counts, counts.sum() / 10) < chi_square_limit(9)


def test_the_paper_raises_second_operands_or_makes_both_equal_and_nothing_more() -> None:
    n_batches = 6000
    questions, batch = paper_batches(SUB, 2, n_batches)
    equal = per_batch(questions.first == questions.second, n_batches) == 128
    raised = (per_batch(questions.second == 0, n_batches) == 0) & ~equal
    assert is_share(int(equal.sum()), n_batches, 0.40 * 0.01)
    assert is_share(int(raised.sum()), n_batches, 0.40 * 0.99)
    natural = ~equal & ~raised
    for rows, shares in ((raised, [0, *[0.1] * 8, 0.2]), (natural, [0.1] * 10), (equal, [0.1] * 10)):
        counts = np.bincount(questions.second[rows[batch]].reshape(-1), minlength=10)
        expected = np.array(shares) * counts.sum()
        assert chi_square(counts[1:], expected[1:]) < chi_square_limit(9)
        assert rows is not raised or counts[0] == 0
    firsts = np.bincount(questions.first[(raised | natural)[batch]].reshape(-1), minlength=10)
    assert chi_square(firsts, firsts.sum() / 10) < chi_square_limit(9)


def test_the_paper_asks_one_operation_per_batch_and_two_thirds_subtractions() -> None:
    questions, _ = paper_batches(MIX, 1, 5000)
    minus = per_batch(questions.minus, 5000)
    assert set(minus.tolist()) == {0, PAPER_BATCH}
    assert PAPER_BATCH == 64
    assert is_share(int((minus == 64).sum()), 5000, 0.66)


def alike_shares(digits: int) -> list[float]:
    """The share of questions with 0, 1, .. alike columns, worked out from what the recipe says of itself."""
    n, steps = digits, 2000
    shares = np.zeros(n + 1)

    def binomial(p: float) -> NDArray[np.float64]:
        row = np.ones(1)
        for _ in range(n):
            row = np.convolve(row, [1 - p, p])
        return row

    shares += 0.40 * binomial(0.1)
    for step in range(steps):  # p uniform; a column not made alike is so by chance
        p = (step + 0.5) / steps
        shares += 0.49 / steps * binomial(p + (1 - p) * 0.1)
    shares[n] += 0.02
    shares[n - 1] += 0.06 + 0.03 * 0.5  # near numbers: half of the steps of 1 to 9 stay in the units
    for changed in range(2, n):
        shares[n - changed] += 0.03 * 0.5 * 0.9 * 0.1 ** (changed - 2)
    shares[0] += 0.03 * 0.5 * 0.1 ** (n - 2)
    return [float(share) for share in shares]


@pytest.mark.parametrize("operation", [ADD, SUB])
@pytest.mark.parametrize("digits", [6, 12])
def test_enriched_questions_have_the_stated_shares_of_alike_columns(operation: Operation, digits: int) -> None:
    total = 200_000
    questions = Population(ENRICHED, operation, digits).draw(7, 0, total)
    pairs = questions.first == questions.second if operation is SUB else questions.first + questions.second == 9
    counts = np.bincount(pairs.sum(axis=1), minlength=digits + 1)
    expected = np.array(alike_shares(digits)) * total
    assert abs(expected.sum() - total) < 1
    assert chi_square(counts, expected) < chi_square_limit(digits)


def test_enriched_subtractions_have_equal_near_and_nearly_alike_operands_of_both_signs() -> None:
    total, n = 100_000, 6
    questions = Population(ENRICHED, SUB, n).draw(8, 0, total)
    difference = numbers(questions.first) - numbers(questions.second)
    equal = int((difference == 0).sum())
    assert is_share(equal, total, alike_shares(n)[n])
    assert is_share(int((difference < 0).sum()), total - equal, 0.5)
    unlike = questions.first != questions.second
    single = unlike.sum(axis=1) == 1
    for k in range(n):
        at_k = single & unlike[:, k]
        assert at_k.sum() > 0.01 * total
        assert is_share(int((difference[at_k] < 0).sum()), int(at_k.sum()), 0.5)
        assert set(np.abs(difference[at_k] // 10**k)) == set(range(1, 10))
    near = (difference != 0) & (abs(difference) <= 9)
    assert near.sum() > 0.03 * total
    for rows in (near & (difference > 0), near & (difference < 0)):
        assert np.bincount(unlike[rows].sum(axis=1), minlength=5)[2:5].min() > 0  # the step ripples up
        assert set(abs(difference[rows])) == set(range(1, 10))


def test_enriched_additions_mirror_them_in_the_nines_complement() -> None:
    total, n = 100_000, 6
    questions = Population(ENRICHED, ADD, n).draw(9, 0, total)
    excess = numbers(questions.first) + numbers(questions.second) - (10**n - 1)
    assert is_share(int((excess == 0).sum()), total, alike_shares(n)[n])
    near = (excess != 0) & (abs(excess) <= 9)
    assert near.sum() > 0.03 * total
    assert set(excess[near].tolist()) == set(range(-9, 10)) - {0}
    single = (questions.first + questions.second != 9).sum(axis=1) == 1
    places = np.flatnonzero((questions.first + questions.second != 9)[single].any(axis=0))
    assert places.tolist() == list(range(n))


def of_one_kind(monkeypatch: pytest.MonkeyPatch, kind: str, digits: int) -> Questions:
    """Enriched subtractions that are all of one kind."""
    assert kind in populations_room.ENRICHED
    monkeypatch.setattr(populations_room, "ENRICHED", {name: float(name == kind) for name in populations_room.ENRICHED})
    return Population(ENRICHED, SUB, digits).draw(13, 0, 60_000)


@pytest.mark.parametrize("digits", [1, 2, 6])
def test_operands_alike_in_all_columns_are_equal(monkeypatch: pytest.MonkeyPatch, digits: int) -> None:
    questions = of_one_kind(monkeypatch, "equal", digits)
    assert (questions.first == questions.second).all()


@pytest.mark.parametrize("digits", [1, 2, 6])
def test_operands_alike_in_all_but_one_column_differ_there_by_anything(
    monkeypatch: pytest.MonkeyPatch, digits: int
) -> None:
    questions = of_one_kind(monkeypatch, "one column", digits)
    unlike = questions.first != questions.second
    assert (unlike.sum(axis=1) == 1).all()
    places = np.bincount(np.flatnonzero(unlike) % digits, minlength=digits)
    assert chi_square(places, 60_000 / digits) < chi_square_limit(max(digits - 1, 1))
    pairs = questions.first[unlike].astype(np.int64) * 10 + questions.second[unlike]
    counts = np.bincount(pairs, minlength=100)
    assert (counts[::11] == 0).all()  # d and d
    assert chi_square(counts[counts > 0], 60_000 / 90) < chi_square_limit(89)
    assert (counts > 0).sum() == 90


@pytest.mark.parametrize("digits", [2, 3, 6])
def test_near_operands_differ_by_one_to_nine_and_never_wrap(monkeypatch: pytest.MonkeyPatch, digits: int) -> None:
    questions = of_one_kind(monkeypatch, "near", digits)
    difference = numbers(questions.first) - numbers(questions.second)
    counts = np.bincount(abs(difference), minlength=10)
    assert len(counts) == 10
    assert chi_square(counts[1:], 60_000 / 9) < chi_square_limit(8)
    assert counts[0] == 0
    assert is_share(int((difference < 0).sum()), 60_000, 0.5)


def test_either_operand_may_be_the_one_that_was_changed(monkeypatch: pytest.MonkeyPatch) -> None:
    # A step down from 1 to 9 reaches 00 half as often as 00 is drawn: the operand that was changed is 00 less often.
    questions = of_one_kind(monkeypatch, "near", 2)
    first, second = (int((numbers(operand) == 0).sum()) for operand in (questions.first, questions.second))
    assert is_share(first, first + second, 0.5)


def test_columns_are_alike_at_a_rate_of_each_question_s_own(monkeypatch: pytest.MonkeyPatch) -> None:
    questions = of_one_kind(monkeypatch, "columns", 6)
    alike = questions.first == questions.second
    assert is_share(int(alike[:, 2].sum()), 60_000, 0.55)
    both = alike[:, 0] & alike[:, 5]  # the chance of a column is 0.1 + 0.9 p, and p is shared: 0.37, not 0.55 squared
    assert is_share(int(both.sum()), 60_000, 0.37)


@pytest.mark.parametrize("operation", list(Operation))
def test_one_digit_populations_are_enriched_without_leaving_the_width(operation: Operation) -> None:
    questions = Population(ENRICHED, operation, 1).draw(11, 0, 20_000)
    pairs = set(zip(questions.first[:, 0].tolist(), questions.second[:, 0].tolist(), strict=True))
    assert len(pairs) == 100


@pytest.mark.parametrize("digits", [10, 20, 40])
def test_deep_cascades_stay_common_at_every_width(digits: int) -> None:
    additions = [slow_labels(text) for text in Population(ENRICHED, ADD, digits).draw(12, 0, 4000).text()]
    subtractions = [slow_labels(text) for text in Population(ENRICHED, SUB, digits).draw(12, 0, 4000).text()]
    half = digits // 2
    for found, deepest in ((additions, {"S5"}), (subtractions, {"M4", "N4"})):
        depths = [max(labels.cascade or 0, labels.sign or 0) for labels in found]
        assert sum(labels.name in deepest for labels in found) > 0.05 * 4000  # natural at 10 digits: 0.0003
        assert sum(depth >= half for depth in depths) > 0.02 * 4000
        assert sum(depth == digits - 1 for depth in depths) > 0.002 * 4000
    assert {labels.name for labels in additions} == {"S0", "S1", "S2", "S3", "S4", "S5"}
    assert {labels.name for labels in subtractions} >= {"M1", "M2", "M3", "M4", "N1", "N2", "N3", "N4"}


def test_a_pair_of_digits_is_even_over_all_hundred_pairs() -> None:
    first, second = digit_pairs(draw([3], 0, 100_000, 1)[:, 0])
    assert first.dtype == second.dtype == np.int8
    counts = np.bincount(first.astype(np.int64) * 10 + second, minlength=100)
    assert len(counts) == 100
    assert chi_square(counts, 1000.0) < chi_square_limit(99)
