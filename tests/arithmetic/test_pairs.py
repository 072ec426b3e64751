import re
from functools import cache

import numpy as np
import pytest

from arithmetic.slow_route import inputs_behind, random_sums, slow_answer, slow_run
from carrylens.arithmetic import Answers, Operation, Questions, algorithm, ripple
from carrylens.arithmetic.algorithm_model import Algorithm
from carrylens.arithmetic.variables import D_PRIME, MB, MC, MD, MV, NB, NV, OPR, SA, SC, SGN, ST, SV, A, D
from carrylens.errors import CarryLensError
from carrylens.tasks.batches import Batch
from carrylens.tasks.pairs import Pairs, effect_pairs, interchange_pairs, null_pairs
from carrylens.tasks.variables import Variable

of_batch = Questions.of_batch
ADD, MIX = algorithm(Operation.ADD, 4), algorithm(Operation.MIX, 4)
INPUTS = [*(f"{operand}[{k}]" for operand in ("D", "D'") for k in range(4)), "OPR"]


def reads(model: Algorithm) -> list[Variable]:
    """The variables some answer token depends on: all but the binary carries and the top of the chain of D'-D."""
    unread = {"SC", "MC", "NC"}
    top = {NB[3], NV[3]}
    constant = {SGN} if model is ADD else set()
    if model is ADD:
        constant.add(OPR)  # an addition does not look at its operator
    return [v for v in model.variables if v.name not in unread and v not in top and v not in constant]


CASES = [
    pytest.param(model, variable, id=f"{model.operation.value} {variable}")
    for model in (ADD, MIX)
    for variable in reads(model)
]


@cache
def effects(model: Algorithm, variable: Variable) -> Pairs:
    return effect_pairs(model, variable, 30, seed=1)


def answers_of(pairs: Pairs) -> Answers:
    """What the pairs expect, as signs and digits."""
    return Answers.of_outputs(pairs.expected)


def values_of(questions: Batch, model: Algorithm) -> list[dict[str, int]]:
    return [slow_run(text, model.operation.value) for text in of_batch(questions).text()]


@pytest.mark.parametrize(("model", "variable"), CASES)
def test_an_effect_pair_differs_in_its_variable_and_shows_the_counterfactual(
    model: Algorithm, variable: Variable
) -> None:
    pairs, name, operation = effects(model, variable), str(variable), model.operation.value
    assert len(pairs) == len(pairs.base) == len(pairs.source) == 30
    behind = inputs_behind(name, 4, operation)
    base, source = values_of(pairs.base, model), values_of(pairs.source, model)
    for row, text in enumerate(of_batch(pairs.base).text()):
        assert base[row][name] != source[row][name]
        assert all(base[row][other] == source[row][other] for other in INPUTS if other not in behind)
        assert answers_of(pairs).text()[row] == slow_answer(text, operation, {name: source[row][name]})
        assert answers_of(pairs).text()[row] != slow_answer(text, operation)
    assert len(set(zip(of_batch(pairs.base).text(), of_batch(pairs.source).text(), strict=True))) > 25


@pytest.mark.parametrize(("model", "variable"), CASES)
def test_a_null_pair_agrees_in_its_variable_and_differs_in_every_other_input(
    model: Algorithm, variable: Variable
) -> None:
    base_questions = effects(model, variable).base
    pairs, name, operation = null_pairs(model, variable, base_questions, seed=2), str(variable), model.operation.value
    assert pairs.base == base_questions
    base, source = values_of(pairs.base, model), values_of(pairs.source, model)
    others = [other for other in INPUTS if other not in (name, "OPR")]
    for row, text in enumerate(of_batch(pairs.base).text()):
        assert base[row][name] == source[row][name]
        assert all(base[row][other] != source[row][other] for other in others)
        assert answers_of(pairs).text()[row] == slow_answer(text, operation)
        assert slow_answer(text, operation, {name: source[row][name]}) == slow_answer(text, operation)


@pytest.mark.parametrize("variable", [ST[2], MV[1], SA[0], D[3], A[2]], ids=str)
@pytest.mark.parametrize("other_operator", [False, True])
def test_the_operator_of_a_null_pair_stays_unless_it_is_to_be_turned_round(
    variable: Variable, other_operator: bool
) -> None:
    base = random_sums(seed=3, count=50, digits=4).questions()
    pairs = null_pairs(MIX, variable, base, seed=3, turned=other_operator)
    assert ((of_batch(pairs.source).minus != base.minus) == other_operator).all()
    assert answers_of(pairs).text() == [slow_answer(text, "mix") for text in base.text()]
    mine, theirs, name = values_of(base, MIX), values_of(pairs.source, MIX), str(variable)
    assert all(one[name] == other[name] for one, other in zip(mine, theirs, strict=True))
    others = [other for other in INPUTS if other not in (name, "OPR")]
    assert all(one[other] != two[other] for one, two in zip(mine, theirs, strict=True) for other in others)


@pytest.mark.parametrize(("model", "variable"), [(MIX, OPR), (ADD, ST[2])])
def test_an_operator_that_cannot_differ_is_not_turned_round(model: Algorithm, variable: Variable) -> None:
    base = random_sums(seed=3, count=5, digits=4, minus=False).questions()
    with pytest.raises(CarryLensError, match=re.escape(f"a null of {variable}")):
        null_pairs(model, variable, base, seed=3, turned=True)


def test_a_base_without_a_null_source_is_quoted() -> None:
    base = Questions.parse(["1234-5678"])  # a minus sign needs a subtraction
    with pytest.raises(CarryLensError, match=r"D\[3\]=1 D\[2\]=2 .*OPR=- D'\[3\]=5 .*null.*SGN"):
        null_pairs(MIX, SGN, base, seed=3, turned=True)


def test_a_null_pair_for_the_operator_keeps_it() -> None:
    base = random_sums(seed=4, count=50, digits=4).questions()
    source = of_batch(null_pairs(MIX, OPR, base, seed=4).source)
    assert (source.minus == base.minus).all()
    assert (source.first != base.first).all()
    assert (source.second != base.second).all()


def test_a_null_pair_can_move_the_answer_if_anything_else_were_carried() -> None:
    base = random_sums(seed=5, count=200, digits=4, minus=False).questions()
    pairs = null_pairs(ADD, ST[2], base, seed=5)
    for other in (SA[2], SA[0], ST[1], SV[2]):
        assert pairs.tells_apart(other).mean() > 0.2


@pytest.mark.parametrize(
    ("model", "variable", "agree"),
    [
        (ADD, ST[2], [SA[2]]),
        (ADD, SV[2], [ST[2], SA[2], SA[3]]),
        (ADD, SV[1], [SV[0], SA[0], SA[1]]),
        (ADD, SA[1], [ST[1], SC[1], SV[1]]),
        (MIX, MB[1], [ST[1], SA[1]]),
        (MIX, MV[2], [MB[2], MB[1], SGN]),
        (MIX, NV[1], [SGN, NB[1]]),
        (MIX, SGN, [MB[3], MC[3]]),
        (MIX, ST[1], [MV[3], D[1]]),
        (MIX, OPR, [SGN]),
    ],
)
def test_effect_pairs_agree_in_all_they_are_asked_to_agree_in(
    model: Algorithm, variable: Variable, agree: list[Variable]
) -> None:
    pairs = effect_pairs(model, variable, 40, seed=6, agree=agree)
    named = [inputs_behind(str(other), 4, model.operation.value) for other in (variable, *agree)]
    untouched = set(INPUTS) - set().union(*named)
    base, source = values_of(pairs.base, model), values_of(pairs.source, model)
    for mine, theirs, expected, text in zip(
        base, source, answers_of(pairs).text(), of_batch(pairs.base).text(), strict=True
    ):
        assert mine[str(variable)] != theirs[str(variable)]
        assert all(mine[str(other)] == theirs[str(other)] for other in agree)
        assert all(mine[other] == theirs[other] for other in untouched)
        assert expected == slow_answer(text, model.operation.value, {str(variable): theirs[str(variable)]})


@pytest.mark.parametrize(
    ("variable", "agree"),
    [
        (ST[1], [ST[1]]),
        (ST[1], [D[1], D_PRIME[1]]),
        (SV[1], [ST[1], SV[0]]),
        (SA[1], [A[1], SV[0]]),
        (ST[0], [SC[0]]),
    ],
)
def test_what_cannot_agree_is_refused(variable: Variable, agree: list[Variable]) -> None:
    with pytest.raises(CarryLensError, match=re.escape(f"differ in {variable}")):
        effect_pairs(algorithm(Operation.ADD, 2), variable, 5, seed=0, agree=agree)


def test_a_sign_that_never_differs_has_no_effect_pairs() -> None:
    with pytest.raises(CarryLensError):
        effect_pairs(algorithm(Operation.ADD, 2), SGN, 5, seed=0)


@pytest.mark.parametrize(("model", "variable"), [(ADD, SC[1]), (ADD, OPR), (MIX, MC[2]), (MIX, NV[3]), (MIX, NB[3])])
def test_a_variable_no_answer_depends_on_has_no_effect_pairs(model: Algorithm, variable: Variable) -> None:
    with pytest.raises(CarryLensError, match=re.escape(str(variable))):
        effect_pairs(model, variable, 5, seed=0)


@pytest.mark.parametrize("variable", [ST[4], MV[0]])
def test_a_variable_the_algorithm_does_not_have_is_refused(variable: Variable) -> None:
    base = Questions.parse(["1234+5678"])
    with pytest.raises(CarryLensError, match=f"'left-to-right add'.*{re.escape(str(variable))}"):
        effect_pairs(ADD, variable, 5, seed=0)
    with pytest.raises(CarryLensError, match=f"'left-to-right add'.*{re.escape(str(variable))}"):
        effect_pairs(ADD, ST[1], 5, seed=0, agree=[variable])
    with pytest.raises(CarryLensError, match=f"'left-to-right add'.*{re.escape(str(variable))}"):
        null_pairs(ADD, variable, base, seed=0)


def test_pairs_are_the_same_for_the_same_seed_and_others_for_another() -> None:
    one, again, other = (effect_pairs(MIX, MV[1], 50, seed=seed) for seed in (7, 7, 8))
    assert one.base == again.base
    assert one.source == again.source
    assert (one.expected == again.expected).all()
    assert one.base != other.base
    nulls = [null_pairs(MIX, MV[1], one.base, seed=seed).source for seed in (7, 7, 8)]
    assert nulls[0] == nulls[1]
    assert nulls[0] != nulls[2]


def test_fewer_pairs_are_the_first_of_more() -> None:
    few, many = (effect_pairs(ADD, SV[1], count, seed=9) for count in (10, 200))
    assert few.base == many.base[:10]
    assert few.source == many.source[:10]


def test_tokens_take_turns_in_being_shown_however_rare_they_are() -> None:
    """A carry from the units reaches the top of six digits only through nines; it is shown as often as near ones."""
    model = algorithm(Operation.ADD, 6)
    pairs = effect_pairs(model, ST[0], 60, seed=2)
    shown = answers_of(pairs).digits != model.answers(of_batch(pairs.base)).digits  # from the units up
    assert (shown[:, 1:].sum(0) >= 16).all()  # 8 at the top without turns
    assert not shown[:, 0].any()


@pytest.mark.parametrize(("ours", "theirs"), [(SGN, MV[3]), (A[4], SV[3]), (SA[0], A[0])])
def test_the_operator_tells_apart_what_digits_alone_cannot(ours: Variable, theirs: Variable) -> None:
    pairs = effect_pairs(MIX, ours, 24, seed=1, tell_from=[theirs])
    assert pairs.tells_apart(theirs).all()
    assert (of_batch(pairs.base).minus != of_batch(pairs.source).minus).any()


def hand_pairs(model: Algorithm, variable: Variable, base: list[str], source: list[str]) -> Pairs:
    mine, theirs = Questions.parse(base, model.digits), Questions.parse(source, model.digits)
    return Pairs(model, variable, mine, theirs, model.output_values(mine, do=model.run(theirs).pick(variable)))


def test_pairs_worked_out_by_hand_tell_apart_what_they_should() -> None:
    # 115+112 is 227. ST[0] of 119+112 is 1: carried over, the answer is 237; SA[0] would give 221, SV[0] 237 again.
    pairs = hand_pairs(algorithm(Operation.ADD, 3), ST[0], ["115+112", "115+112"], ["119+112", "116+112"])
    assert answers_of(pairs).text() == ["+0237", "+0227"]
    assert pairs.tells_apart(SA[0]).tolist() == [True, True]
    assert pairs.tells_apart(SV[0]).tolist() == [False, False]
    assert pairs.tells_apart(ST[0]).tolist() == [False, False]
    assert pairs.tells_apart(SC[0]).tolist() == [True, False]  # no answer needs SC: carrying it changes nothing
    assert pairs.tells_apart(ST[1]).tolist() == [True, False]
    assert pairs.tells_apart(D[0]).tolist() == [True, True]  # 119+112 is 231, 116+112 is 228


def test_answers_that_differ_in_their_sign_alone_are_told_apart() -> None:
    # 5-0 is +5. The sign of 0-5 carried over gives -5, for 0-5 modulo 10 is 5 as well; its MD[0] changes nothing.
    pairs = hand_pairs(algorithm(Operation.SUB, 1), SGN, ["5-0"], ["0-5"])
    assert answers_of(pairs).text() == ["-05"]
    assert pairs.tells_apart(Variable("MD", 0)).tolist() == [True]


def test_many_pairs_have_as_many_bases() -> None:
    pairs = effect_pairs(algorithm(Operation.ADD, 8), ST[3], 2500, seed=13)
    assert len(set(of_batch(pairs.base).text())) > 2450


def test_agreement_is_the_share_of_pairs_that_agree() -> None:
    pairs = hand_pairs(algorithm(Operation.ADD, 3), ST[0], ["115+112", "115+112"], ["119+112", "116+112"])
    shares = pairs.agreement()
    assert (shares[D[0]], shares[D[1]], shares[ST[0]], shares[SA[0]], shares[A[1]]) == (0.0, 1.0, 0.5, 0.0, 0.5)
    assert set(shares) == set(algorithm(Operation.ADD, 3).variables)


def test_among_sources_the_one_most_alike_is_taken() -> None:
    # ST[3] of column 3 alone: all other columns agree, so every variable of another column does as well.
    shares = effect_pairs(ADD, ST[3], 200, seed=10).agreement()
    assert all(
        shares[variable] == 1 for variable in (SA[0], SA[1], SA[2], ST[0], ST[1], ST[2], SV[2], A[0], A[1], A[2])
    )
    resolved = effect_pairs(ADD, SV[3], 200, seed=10).agreement()
    assert np.mean([resolved[SA[k]] for k in range(4)]) > 0.6


def test_the_null_of_many_bases_is_found_for_each() -> None:
    base = random_sums(seed=11, count=1500, digits=4).questions()
    pairs = null_pairs(MIX, SA[2], base, seed=11)
    assert len(pairs) == 1500
    mine, theirs = (questions.first[:, 2] + questions.second[:, 2] for questions in (base, of_batch(pairs.source)))
    assert (mine % 10 == theirs % 10).all()
    assert (of_batch(pairs.source).first != base.first).all()


def test_the_null_of_no_bases_is_empty() -> None:
    assert len(null_pairs(ADD, ST[1], Questions.parse([], 4), seed=0)) == 0


def test_no_effect_pairs_are_none_and_fewer_than_none_are_refused() -> None:
    assert len(effect_pairs(ADD, ST[1], 0, seed=0)) == 0
    with pytest.raises(CarryLensError):
        effect_pairs(ADD, ST[1], -1, seed=0)


@pytest.mark.parametrize("name", ["C[1]", "D[2]", "A[4]"])
def test_rivals_have_pairs_of_their_own(name: str) -> None:
    model, variable = ripple(Operation.ADD, 4), Variable.parse(name)
    pairs = effect_pairs(model, variable, 20, seed=12)
    base, source = model.run(pairs.base), model.run(pairs.source)
    assert (base[variable] != source[variable]).all()
    assert all(
        mine != theirs
        for mine, theirs in zip(answers_of(pairs).text(), Answers.of_outputs(base.outputs()).text(), strict=True)
    )


@pytest.mark.parametrize(
    ("operation", "variable", "other"),
    [(Operation.ADD, ST[3], SV[3]), (Operation.SUB, MB[3], MV[3]), (Operation.ADD, SV[2], ST[2])],
)
def test_pairs_can_be_made_to_tell_a_column_s_own_value_from_the_resolved_one(
    operation: Operation, variable: Variable, other: Variable
) -> None:
    model = algorithm(operation, 6)
    pairs = effect_pairs(model, variable, 200, seed=1, tell_from=[other])
    assert len(pairs) == 200
    assert pairs.tells_apart(other).all()
    mine = model.run(pairs.source)
    for row in range(0, 200, 20):
        text, values = (
            of_batch(pairs.base).text()[row],
            {variable: int(mine[variable][row]), other: int(mine[other][row])},
        )
        if operation is Operation.ADD:
            answers = [slow_answer(text, "add", {str(name): value}) for name, value in values.items()]
            assert answers[0] != answers[1]


def test_an_agreement_that_needs_other_columns_to_change_is_found() -> None:
    pairs = effect_pairs(algorithm(Operation.ADD, 2), ST[1], 20, seed=0, agree=[SV[1]])
    assert pairs.agreement()[SV[1]] == 1
    assert pairs.agreement()[ST[1]] == 0


@pytest.mark.parametrize("model", [algorithm(Operation.SUB, 4), MIX])
@pytest.mark.parametrize(
    ("variable", "others"), [(MB[1], []), (MV[1], []), (NB[2], []), (NV[2], []), (MB[1], [MV[2]]), (NB[2], [MD[2]])]
)
def test_the_sign_of_an_interchange_is_not_kept_by_changing_other_columns(
    model: Algorithm, variable: Variable, others: list[Variable]
) -> None:
    pairs = interchange_pairs(model, variable, 40, seed=3, tell_from=others)
    own = inputs_behind(str(variable), 4, model.operation.value)
    base, source = (values_of(side[:40], model) for side in (pairs.base, pairs.source))
    for mine, theirs in zip(base, source, strict=True):
        assert mine["SGN"] == theirs["SGN"]
        assert all(mine[other] == theirs[other] for other in set(INPUTS) - own)


@pytest.mark.parametrize(("model", "variable"), [(ADD, ST[1]), (ADD, SA[2]), (MIX, MB[1]), (MIX, NV[2])])
def test_both_operands_change_so_that_reading_one_is_not_enough(model: Algorithm, variable: Variable) -> None:
    shares, column = interchange_pairs(model, variable, 100, seed=3).agreement(), variable.index or 0
    assert max(shares[D[column]], shares[D_PRIME[column]]) < 0.35


@pytest.mark.parametrize("token", [2, 3])
def test_a_digit_is_told_from_what_is_made_of_it_above_its_column_too(token: int) -> None:
    pairs = interchange_pairs(ADD, D[1], 40, seed=3, tell_from=[ST[1]], at=token)
    theirs = ADD.answers(of_batch(pairs.base), do=ADD.run(pairs.source).pick(ST[1])).text()
    assert all(ours[token] != other[token] for ours, other in zip(answers_of(pairs).text(), theirs, strict=True))


def test_variables_may_be_named_in_text() -> None:
    by_text = effect_pairs(ADD, "ST[1]", 20, seed=0, agree=["SA[1]"])
    assert by_text.base == effect_pairs(ADD, ST[1], 20, seed=0, agree=[SA[1]]).base
    assert by_text.tells_apart("SA[1]").all()


def test_pairs_for_interchanges_ask_digits_of_one_sign_and_the_sign_of_any() -> None:
    model = algorithm(Operation.SUB, 4)
    pairs = interchange_pairs(model, MV[1], 40, seed=3)
    assert len(pairs) == 60
    base, source = model.answers(of_batch(pairs.base)), model.answers(of_batch(pairs.source))
    turned = base.negative != source.negative
    assert not turned[:40].any(), "the first are for the digits"
    assert turned.any(), "and some of the rest turn the sign"
    expected = Answers.of_outputs(pairs.counterfactual())
    assert (expected.digits[turned] == base.digits[turned]).all(), "digits of a turned pair are not asked about"
    assert (expected.digits[:40] != base.digits[:40]).any(axis=1).mean() > 0.8, "those of one sign show in a digit"


def test_pairs_for_interchanges_of_an_addition_are_effect_pairs() -> None:
    model = algorithm(Operation.ADD, 4)
    ours, plain = interchange_pairs(model, ST[1], 20, seed=3), effect_pairs(model, ST[1], 20, seed=3)
    assert (of_batch(ours.base).text(), of_batch(ours.source).text()) == (
        of_batch(plain.base).text(),
        of_batch(plain.source).text(),
    )
