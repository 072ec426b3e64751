from collections import Counter
from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from arithmetic.slow_route import PROPERTY, SlowLabels, chi_square, chi_square_limit, every_sum, slow_labels
from carrylens.arithmetic import Chain, QuestionClass, Target, TargetPopulation
from carrylens.arithmetic.targets import is_possible
from carrylens.errors import CarryLensError

WIDTHS = [1, 2, 3, 4, 5, 6, 7, 8, 20, 40]


def narrowest(name: str) -> int:
    """The fewest digits with a question of that class: a positive borrow needs a column above it that pays."""
    depth = max(int(name[1]) - 1, 0)
    return 1 if name in ("S0", "M0") else depth + 2 if name[0] == "M" else depth + 1


def depth_of(labels: SlowLabels, chain: Chain) -> int | None:
    return {Chain.CASCADE: labels.cascade, Chain.SIGN: labels.sign, Chain.BORROW: labels.borrow}[chain]


def depth_targets(digits: int) -> Iterator[tuple[Chain, bool, int, bool]]:
    """Chain, sign, depth, and whether such a question exists."""
    for depth in range(digits + 1):
        yield Chain.CASCADE, False, depth, depth < digits
        yield Chain.SIGN, True, depth, depth < digits
        for negative in (False, True):
            yield Chain.BORROW, negative, depth, depth == 0 or depth + 2 <= digits


def labels_of(population: TargetPopulation, count: int) -> list[SlowLabels]:
    return [slow_labels(text) for text in population.draw(0, 0, count).text()]


@pytest.mark.parametrize("digits", WIDTHS)
@pytest.mark.parametrize("name", [found.value for found in QuestionClass])
def test_every_question_drawn_is_of_the_class_asked_for(name: str, digits: int) -> None:
    target = Target.of_class(QuestionClass(name))
    assert is_possible(target, digits) is (digits >= narrowest(name))
    if digits < narrowest(name):
        with pytest.raises(CarryLensError, match=rf"\b{digits} digits.*Target\("):
            TargetPopulation(target, digits)
    else:
        found = labels_of(TargetPopulation(target, digits), 40)
        assert {labels.name for labels in found} == {name}


@pytest.mark.parametrize("digits", WIDTHS)
def test_every_question_drawn_has_the_exact_depth_asked_for(digits: int) -> None:
    for chain, negative, depth, possible in depth_targets(digits):
        target = Target.of_depth(chain, depth, negative)
        assert is_possible(target, digits) is possible
        if not possible:
            with pytest.raises(CarryLensError, match=rf"\b{digits} digits.*Target\("):
                TargetPopulation(target, digits)
            continue
        found = labels_of(TargetPopulation(target, digits), 12)
        assert {depth_of(labels, chain) for labels in found} == {depth}, target
        if chain is not Chain.CASCADE:
            assert {labels.name[0] for labels in found} == {"N" if negative else "M"}


@pytest.fixture(scope="module", params=[1, 2, 3])
def census(request: pytest.FixtureRequest) -> tuple[int, Counter[SlowLabels]]:
    """How many questions of one width have each set of labels, counted one by one (by kinds of columns at 3)."""
    digits: int = request.param
    counts: Counter[SlowLabels] = Counter()
    kinds = {
        False: {(0, 0): 45, (0, 9): 10, (5, 5): 45},
        True: {(0, 0): 1, (7, 7): 9, (3, 8): 45, (8, 3): 45},
    }
    for minus, ways in kinds.items():
        if digits < 3:
            counts.update(map(slow_labels, every_sum(digits, minus).questions().text()))
            continue
        for top, middle, units in ((x, y, z) for x in ways for y in ways for z in ways):
            first, second = (f"{top[side]}{middle[side]}{units[side]}" for side in (0, 1))
            counts[slow_labels(f"{first}{'+-'[minus]}{second}")] += ways[top] * ways[middle] * ways[units]
    assert counts.total() == 2 * 100**digits
    return digits, counts


def test_the_number_of_questions_of_each_class_is_exact(census: tuple[int, Counter[SlowLabels]]) -> None:
    digits, counts = census
    for found in QuestionClass:
        if digits >= narrowest(found.value):
            expected = sum(count for labels, count in counts.items() if labels.name == found.value)
            assert TargetPopulation(Target.of_class(found), digits).n_questions == expected, found


def test_the_number_of_questions_of_each_depth_is_exact(census: tuple[int, Counter[SlowLabels]]) -> None:
    digits, counts = census
    for chain, negative, depth, possible in depth_targets(digits):
        letter = "S" if chain is Chain.CASCADE else "N" if negative else "M"
        expected = sum(
            count for labels, count in counts.items() if labels.name[0] == letter and depth_of(labels, chain) == depth
        )
        assert (expected > 0) is possible
        if possible:
            population = TargetPopulation(Target.of_depth(chain, depth, negative), digits)
            assert population.n_questions == expected, population


@pytest.mark.parametrize("digits", [5, 20, 40])
def test_the_classes_share_out_all_questions_of_a_width(digits: int) -> None:
    counts = {found.value: TargetPopulation(Target.of_class(found), digits).n_questions for found in QuestionClass}
    additions = sum(count for name, count in counts.items() if name[0] == "S")
    negative = sum(count for name, count in counts.items() if name[0] == "N")
    positive = sum(count for name, count in counts.items() if name[0] == "M")
    assert additions == 100**digits
    assert negative == 10**digits * (10**digits - 1) // 2
    assert positive == 10**digits * (10**digits + 1) // 2


def test_the_deepest_class_of_ten_digits_is_as_rare_as_the_paper_says() -> None:
    share = TargetPopulation(Target.of_class(QuestionClass.S5), 10).n_questions / 100**10
    assert 2.5e-4 < share < 3.5e-4


UNIFORM = [
    *(Target.of_class(found) for found in QuestionClass if narrowest(found.value) <= 2),
    *(Target.of_depth(chain, depth, negative) for chain, negative, depth, possible in depth_targets(2) if possible),
]


@pytest.mark.parametrize("target", dict.fromkeys(UNIFORM), ids=str)
def test_every_question_that_qualifies_is_equally_likely(target: Target) -> None:
    # Chi-square over all qualifying questions of two digits; it exceeds the bound once in a million.
    population = TargetPopulation(target, 2)
    total = 20 * population.n_questions
    questions = population.draw(1, 0, total)
    first, second = (digits.astype(np.int64) @ [1, 10] for digits in (questions.first, questions.second))
    counts = np.bincount(first * 100 + second, minlength=10_000)
    assert (counts > 0).sum() == population.n_questions
    seen = counts[counts > 0]
    assert chi_square(seen, 20.0) < chi_square_limit(len(seen) - 1)


def test_a_full_cascade_of_twenty_digits_is_drawn_as_any_other() -> None:
    population = TargetPopulation(Target.of_depth(Chain.CASCADE, 19), 20)
    assert population.n_questions == 45 * 10**19
    texts = population.draw(2, 0, 1000).text()
    assert len(set(texts)) == 1000
    for text in texts:
        columns = [int(d) + int(e) for d, e in zip(text[:20], text[21:41], strict=True)]
        assert columns[:-1] == [9] * 19
        assert columns[-1] >= 10
    sums = [int(text[:20]) + int(text[21:41]) for text in texts]
    assert all(10**20 <= total <= 10**20 + 8 for total in sums)


def test_leading_zeros_do_not_deepen_a_sign_decision() -> None:
    texts = TargetPopulation(Target.of_depth(Chain.SIGN, 0), 6).draw(3, 0, 20_000).text()
    assert any(text.startswith("00") and text[7:9] == "00" for text in texts)


@PROPERTY
@given(
    name=st.sampled_from(["S0", "S3", "M2", "N1", "N4"]),
    digits=st.integers(4, 40),
    seed=st.integers(0, 2**70),
    start=st.integers(0, 10**12),
    counts=st.lists(st.integers(0, 30), min_size=1, max_size=3),
)
def test_a_question_is_the_same_whatever_batch_it_is_drawn_in(
    name: str, digits: int, seed: int, start: int, counts: list[int]
) -> None:
    target = Target.of_class(QuestionClass(name))
    whole, at = TargetPopulation(target, digits).draw(seed, start, sum(counts)), 0
    assert len(whole) == sum(counts)
    for count in counts:
        assert TargetPopulation(target, digits).draw(seed, start + at, count) == whole[at : at + count]
        at += count


def test_seeds_and_targets_make_a_difference() -> None:
    of_classes = [TargetPopulation(Target.of_class(found), 8) for found in QuestionClass]
    of_depths = [TargetPopulation(Target.of_depth(Chain.BORROW, 3, negative), 8) for negative in (False, True)]
    batches = [population.draw(seed, 0, 30) for population in of_classes for seed in (0, 1)]
    batches += [population.draw(0, 0, 30) for population in of_depths]
    assert len({(batch.first.tobytes(), batch.second.tobytes()) for batch in batches}) == len(batches)


def test_the_two_signs_of_a_borrow_depth_are_not_each_other_s_mirror() -> None:
    positive, negative = (
        TargetPopulation(Target.of_depth(Chain.BORROW, 2, sign), 8).draw(0, 0, 50) for sign in (False, True)
    )
    assert positive.first.tolist() != negative.second.tolist()


@pytest.mark.parametrize("depth", [-1, -40])
def test_a_depth_below_zero_is_refused(depth: int) -> None:
    with pytest.raises(CarryLensError, match=f"^{depth} .*depth"):
        Target.of_depth(Chain.CASCADE, depth)


@pytest.mark.parametrize("target", [Target(Chain.CASCADE, 3, 2), Target(Chain.BORROW, 40, None)])
def test_a_target_that_nothing_meets_is_refused(target: Target) -> None:
    with pytest.raises(CarryLensError, match=r"\b40 digits.*Target\("):
        TargetPopulation(target, 40)


@pytest.mark.parametrize(("chain", "negative"), [(Chain.CASCADE, True), (Chain.SIGN, False)])
def test_a_depth_that_does_not_go_with_the_sign_is_refused(chain: Chain, negative: bool) -> None:
    with pytest.raises(CarryLensError, match=f"{chain.value} depth.*(negative|positive)"):
        TargetPopulation(Target.of_depth(chain, 1, negative), 4)
    with pytest.raises(CarryLensError, match=f"{chain.value} depth.*(negative|positive)"):
        TargetPopulation(Target(chain, 1, 1, negative), 4)


def test_a_depth_without_a_sign_takes_the_one_that_goes_with_it() -> None:
    assert [Target.of_depth(chain, 1).negative for chain in Chain] == [False, True, False]


@pytest.mark.parametrize("digits", [0, 41])
def test_a_width_that_is_none_has_no_target_population(digits: int) -> None:
    with pytest.raises(CarryLensError, match=rf"^{digits}\b.*40"):
        TargetPopulation(Target.of_class(QuestionClass.S0), digits)
    with pytest.raises(CarryLensError, match=rf"^{digits}\b.*40"):
        is_possible(Target.of_class(QuestionClass.S0), digits)


@pytest.mark.parametrize(("seed", "start", "count"), [(-1, 0, 1), (0, -1, 1), (0, 0, -1)])
def test_negative_seeds_starts_and_counts_are_refused(seed: int, start: int, count: int) -> None:
    with pytest.raises(CarryLensError, match="start.*count.*seed"):
        TargetPopulation(Target.of_class(QuestionClass.S0), 4).draw(seed, start, count)


def test_what_is_no_class_is_refused() -> None:
    with pytest.raises(CarryLensError, match=r"'S5'.*QuestionClass\.S5"):
        Target.of_class("S5")  # type: ignore[arg-type]
