import re
from collections.abc import Mapping
from dataclasses import FrozenInstanceError

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import ArrayLike

from arithmetic.slow_route import PROPERTY, inputs_behind, random_sums, slow_answer, slow_run
from carrylens.arithmetic import Answers, Operation, Questions, algorithm, one_layer, ripple
from carrylens.arithmetic.algorithm_model import Algorithm, state_algorithm
from carrylens.arithmetic.subtasks import same, zero
from carrylens.arithmetic.variables import D_PRIME, MB, MD, MV, NB, ND, NV, OPR, SA, SC, SGN, ST, SV, A, D, U
from carrylens.errors import CarryLensError
from carrylens.tasks.causal import Mechanism
from carrylens.tasks.variables import Variable

ADD, SUB, MIX = (algorithm(operation, 3) for operation in (Operation.ADD, Operation.SUB, Operation.MIX))


def asked(model: Algorithm, question: str, do: Mapping[Variable, ArrayLike] | None = None) -> str:
    return model.answers(Questions.parse([question], model.digits), do).text()[0]


@pytest.mark.parametrize(
    ("question", "do", "answer"),
    [
        ("555+448", {ST[1]: 0}, "+0903"),  # 555+448 is 1003: 5+8 gives 3 and carries into 9, which now stops it
        ("555+448", {ST[1]: 1}, "+1003"),
        ("555+448", {ST[0]: 0}, "+0993"),
        ("555+448", {ST[2]: 0}, "+0003"),
        ("555+448", {SV[0]: 0}, "+0993"),
        ("555+448", {SV[1]: 0}, "+0903"),
        ("555+448", {SV[2]: 0}, "+0003"),
        ("555+448", {SA[1]: 4}, "+1053"),  # the carry goes by ST, not by SA
        ("555+448", {D[1]: 4}, "+0993"),  # 545+448
        ("555+448", {SC[0]: 0}, "+1003"),  # no answer needs SC
        ("555+448", {SGN: 1}, "-1003"),
        ("111+111", {ST[0]: 1}, "+0232"),
        ("111+111", {ST[0]: 1, ST[1]: U}, "+0332"),
        ("111+111", {ST[0]: 1, ST[1]: U, ST[2]: U}, "+1332"),
        ("111+111", {A[3]: 7, SGN: 1}, "-7222"),
        ("555+448", {SV[1]: 0, ST[1]: 1}, "+0903"),  # the value set nearest to the answer counts
    ],
)
def test_addition_under_do_worked_out_by_hand(question: str, do: dict[Variable, int], answer: str) -> None:
    assert asked(ADD, question, do) == answer
    assert asked(MIX, question, do) == answer


@pytest.mark.parametrize(
    ("question", "do", "answer"),
    [
        ("325-129", {MB[0]: 0}, "+0206"),  # 325-129 is 196: no borrow from 2-2
        ("325-129", {MB[1]: 0}, "+0296"),
        ("325-129", {MV[1]: 0}, "+0296"),
        ("325-129", {MD[0]: 1}, "+0191"),
        ("325-129", {NB[0]: 1, NB[1]: 1, ND[0]: 9}, "+0196"),  # the chain of D'-D is not read
        (
            "325-129",
            {MV[2]: 1},
            "-0804",
        ),  # 129-325 column by column: 4, 0 with no borrow from 9-5, 8 (borrows from above)
        ("325-129", {SGN: 1}, "-0804"),
        ("325-329", {SGN: 0}, "+0996"),  # 325-329 modulo 1000
        ("325-329", {MV[2]: 0}, "+0996"),
        ("325-329", {MB[1]: 0}, "+0096"),  # nothing is borrowed out of column 1: positive
        ("325-329", {NB[0]: 1}, "-0994"),
        ("325-329", {NV[0]: 1}, "-0994"),
        ("325-329", {NV[1]: 1}, "-0904"),
        ("325-329", {ND[2]: 5}, "-0504"),
        ("325-329", {MD[0]: 0}, "-0004"),
        ("777-777", {MB[0]: 1}, "-0000"),
        ("777-777", {MB[2]: 1}, "-0000"),
        ("777-777", {MB[1]: 1, SGN: 0}, "+0900"),
    ],
)
def test_subtraction_under_do_worked_out_by_hand(question: str, do: dict[Variable, int], answer: str) -> None:
    assert asked(SUB, question, do) == answer
    assert asked(MIX, question, do) == answer


@pytest.mark.parametrize(
    ("question", "do", "answer"),
    [
        ("555+448", {OPR: 1}, "+0107"),
        ("325-329", {OPR: 0}, "+0654"),
        ("325+329", {OPR: 1}, "-0004"),
        ("325+329", {OPR: 1, SGN: 0}, "+0996"),
        ("325+329", {SGN: 1}, "-0654"),
        ("325+329", {MV[2]: 1, MD[0]: 7}, "+0654"),
        ("555-448", {ST[0]: 1, SV[2]: 1, SA[0]: 3}, "+0107"),
        ("555-448", {OPR: 0, SV[1]: 0}, "+0903"),
    ],
)
def test_the_mixed_choice_under_do_worked_out_by_hand(question: str, do: dict[Variable, int], answer: str) -> None:
    assert asked(MIX, question, do) == answer


def test_a_cascade_cut_in_the_middle_gives_the_counterfactual_answer() -> None:
    model = algorithm(Operation.ADD, 9)
    for k in range(1, 9):
        kept = (10 ** (9 - k) - 1) * 10**k + 3  # every column from k up is left at 9
        assert asked(model, "555555555+444444448", {SV[k - 1]: 0}) == f"+{kept:010d}"


@pytest.mark.parametrize("model", [ADD, SUB, MIX, ripple(Operation.MIX, 3), one_layer(3, sum_nine=True)])
def test_setting_a_variable_to_its_own_value_changes_nothing(model: Algorithm) -> None:
    minus = {Operation.ADD: False, Operation.SUB: True, Operation.MIX: None}[model.operation]
    questions = random_sums(seed=3, count=300, digits=3, minus=minus).questions()
    values = model.run(questions)
    for variable in model.variables:
        again = model.run(questions, do=values.pick(variable))
        assert all((again[other] == values[other]).all() for other in model.variables), variable


@PROPERTY
@given(data=st.data(), operation=st.sampled_from(["add", "sub", "mix"]), digits=st.integers(1, 5))
def test_any_variables_set_to_any_values_give_what_the_slow_route_gives(
    data: st.DataObject, operation: str, digits: int
) -> None:
    model = algorithm(Operation(operation), digits)
    number = st.integers(0, 10**digits - 1)
    sign = {"add": st.just("+"), "sub": st.just("-"), "mix": st.sampled_from("+-")}[operation]
    row = st.tuples(number, sign, number).map(lambda parts: f"{parts[0]:0{digits}d}{parts[1]}{parts[2]:0{digits}d}")
    texts = data.draw(st.lists(row, min_size=1, max_size=4))
    forced = data.draw(st.sets(st.sampled_from(model.variables), max_size=4))
    do: dict[Variable, list[int]] = {}
    for variable in sorted(forced, key=str):
        do[variable] = data.draw(
            st.lists(st.sampled_from(model.values_of(variable)), min_size=len(texts), max_size=len(texts))
        )
    found = model.run(Questions.parse(texts), do)
    for at, text in enumerate(texts):
        expected = slow_run(text, operation, {str(variable): values[at] for variable, values in do.items()})
        assert {str(variable): int(found[variable][at]) for variable in model.variables} == expected


def test_values_of_another_batch_are_set_row_by_row() -> None:
    base = random_sums(seed=4, count=200, digits=3).questions()
    source = random_sums(seed=5, count=200, digits=3).questions()
    theirs = MIX.run(source)
    for variables in ([ST[1]], [MV[1]], [SGN], [OPR], [SA[2], NV[0]], [D[0], D_PRIME[1]]):
        found = MIX.answers(base, do=theirs.pick(*variables)).text()
        for at, (mine, other) in enumerate(zip(base.text(), source.text(), strict=True)):
            from_other = slow_run(other, "mix")
            assert found[at] == slow_answer(mine, "mix", {str(v): from_other[str(v)] for v in variables})


@pytest.mark.parametrize("model", [MIX, ripple(Operation.MIX, 3)])
def test_setting_all_inputs_is_asking_the_other_question(model: Algorithm) -> None:
    base = random_sums(seed=6, count=500, digits=3).questions()
    source = random_sums(seed=7, count=500, digits=3).questions()
    theirs = model.run(source)
    found = model.run(base, do=theirs.pick(*model.inputs))
    assert all((found[variable] == theirs[variable]).all() for variable in model.variables)
    assert Answers.of_outputs(found.outputs()).text() != model.answers(base).text()


@pytest.mark.parametrize("model", [ADD, SUB, MIX, ripple(Operation.SUB, 3), one_layer(3)])
def test_setting_every_answer_token_gives_exactly_those_answers(model: Algorithm) -> None:
    question = "123+456" if model.operation is Operation.ADD else "123-456"
    questions = Questions.parse([question] * 50)
    wanted = np.random.default_rng(8).integers(0, 10, (50, 4))
    signs = np.arange(50) % 2
    do = {SGN: signs, **{A[k]: wanted[:, k] for k in range(4)}}
    expected = ["+-"[sign] + "".join(map(str, row[::-1])) for sign, row in zip(signs, wanted, strict=True)]
    assert model.answers(questions, do).text() == expected


def test_one_number_is_set_for_all_questions() -> None:
    questions = Questions.parse(["555+448", "111+111"])
    assert ADD.answers(questions, do={SV[0]: 1}).text() == ["+1003", "+0232"]
    assert ADD.answers(questions, do={SV[0]: np.array(True)}).text() == ["+1003", "+0232"]


@pytest.mark.parametrize("variable", [ST[3], A[4], D[3], MD[0]])
def test_a_variable_the_algorithm_does_not_have_is_refused(variable: Variable) -> None:
    questions = Questions.parse(["123+456"])
    with pytest.raises(CarryLensError, match=f"^'left-to-right add'.*{re.escape(str(variable))}"):
        ADD.run(questions, do={variable: 0})
    with pytest.raises(CarryLensError, match=f"'left-to-right add'.*{re.escape(str(variable))}"):
        ADD.run(questions, read=[variable])
    with pytest.raises(CarryLensError, match=f"'left-to-right add'.*{re.escape(str(variable))}"):
        ADD.run(questions)[variable]
    with pytest.raises(CarryLensError, match=f"'left-to-right add'.*{re.escape(str(variable))}"):
        ADD.ancestors(variable)


@pytest.mark.parametrize("values", [[0], [0, 1, 0], [[0, 1]], [[0], [1]], []])
def test_values_of_the_wrong_shape_are_refused(values: ArrayLike) -> None:
    with pytest.raises(CarryLensError, match=r"^do\(ST\[1\]\).*shape.*\b2\b"):
        ADD.run(Questions.parse(["123+456", "1+2"], 3), do={ST[1]: values})


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        *((SV[1], 2), (SV[1], -1), (SV[1], 0.5), (SV[1], float("nan")), (SV[1], 257), (SV[1], 256), (SV[1], "1")),
        *((ST[1], 3), (SA[1], 10), (SA[1], -1), (D[0], 11), (SGN, 2), (OPR, 7), (ST[1], None), (A[0], [0, 10])),
    ],
)
def test_a_value_outside_the_domain_is_refused(variable: Variable, value: ArrayLike) -> None:
    with pytest.raises(CarryLensError, match=re.escape(f"do({variable})") + ".*0, 1"):
        ADD.run(Questions.parse(["123+456", "1+2"], 3), do={variable: value})


@pytest.mark.parametrize(("model", "variable"), [(ADD, ST[0]), (SUB, MB[0]), (SUB, NB[0]), (MIX, ST[0])])
def test_the_units_cannot_be_set_to_uncertain_for_nothing_would_resolve_them(
    model: Algorithm, variable: Variable
) -> None:
    question = "555+448" if model.operation is Operation.ADD else "555-448"
    with pytest.raises(CarryLensError, match=re.escape(f"do({variable})") + ".*0, 1"):
        model.run(Questions.parse([question]), do={variable: U})


def test_only_what_was_read_can_be_looked_at() -> None:
    values = ADD.run(Questions.parse(["555+448"]), read=[ST[1]])
    assert values[ST[1]].tolist() == [U]
    assert values[D[1]].tolist() == [5]
    for variable in (SV[2], A[0], SA[1]):
        with pytest.raises(CarryLensError, match=re.escape(str(variable)) + ".*`read`"):
            values[variable]
    with pytest.raises(CarryLensError, match="SGN.*`read`"):
        values.outputs()
    with pytest.raises(CarryLensError, match=r"SV\[2\].*`read`"):
        values.pick(SV[2])


def test_a_forced_variable_asks_for_nothing_above_it() -> None:
    values = ADD.run(Questions.parse(["555+448"]), do={SV[1]: 0}, read=[A[2]])
    assert values[A[2]].tolist() == [9]
    with pytest.raises(CarryLensError, match=r"SV\[0\].*`read`"):
        values[SV[0]]


def test_reading_some_variables_gives_what_reading_all_gives() -> None:
    questions = random_sums(seed=9, count=100, digits=3).questions()
    do: dict[Variable, ArrayLike] = {MV[0]: 1, ST[1]: U, SGN: np.arange(100) % 2}
    everything = MIX.run(questions, do)
    for variable in MIX.variables:
        assert (MIX.run(questions, do, read=[variable])[variable] == everything[variable]).all()


def test_a_run_is_a_mapping_that_cannot_be_written_to() -> None:
    values = ADD.run(Questions.parse(["555+448"]), do={SV[0]: 0})
    assert len(values) == len(list(values)) == len(ADD.variables)
    for column in values.values():
        with pytest.raises(ValueError, match="read-only"):
            column[0] = 0


@pytest.mark.parametrize(("model", "question"), [(ADD, "5-3"), (SUB, "5+3")])
def test_a_question_of_the_other_operation_is_refused(model: Algorithm, question: str) -> None:
    mine = "1+1" if model is ADD else "1-1"
    with pytest.raises(CarryLensError, match=r"'005[+-]003='.*mix"):
        model.run(Questions.parse([mine, question, question], 3))


def test_questions_of_another_width_are_refused() -> None:
    with pytest.raises(CarryLensError, match=r"'left-to-right add'.*\b3 digits.*\b4\b"):
        ADD.run(Questions.parse(["1234+1"]))


def test_inputs_come_in_the_order_they_are_read() -> None:
    assert [str(variable) for variable in ADD.inputs] == ["D[2]", "D[1]", "D[0]", "OPR", "D'[2]", "D'[1]", "D'[0]"]
    assert [str(variable) for variable in ADD.outputs] == ["SGN", "A[3]", "A[2]", "A[1]", "A[0]"]


@pytest.mark.parametrize("model", [ADD, SUB, MIX])
def test_every_variable_depends_on_just_the_inputs_it_should(model: Algorithm) -> None:
    for variable in model.variables:
        inputs = {str(parent) for parent in model.ancestors(variable) | {variable} if parent in model.inputs}
        assert inputs == inputs_behind(str(variable), 3, model.operation.value), variable


def test_ancestors_leave_out_the_variable_itself_and_reach_all_the_way_up() -> None:
    assert ADD.ancestors(SV[1]) == {ST[1], SV[0], ST[0], D[1], D_PRIME[1], D[0], D_PRIME[0]}
    assert ADD.ancestors(D[0]) == frozenset()


def test_a_mechanism_before_its_parents_is_refused() -> None:
    with pytest.raises(CarryLensError, match=r"SV\[0\].*'hasty'.*ST\[0\]"):
        state_algorithm("hasty", Operation.ADD, 1, (Mechanism(SV[0], (ST[0],), same),))


def test_a_mechanism_stated_twice_or_for_an_input_is_refused() -> None:
    with pytest.raises(CarryLensError, match="SGN.*'twice'"):
        state_algorithm("twice", Operation.ADD, 1, (Mechanism(SGN, (), zero), Mechanism(SGN, (), zero)))
    with pytest.raises(CarryLensError, match=r"D\[0\].*'input'"):
        state_algorithm("input", Operation.ADD, 1, (Mechanism(D[0], (), zero),))


def test_a_model_cannot_be_changed() -> None:
    with pytest.raises(FrozenInstanceError):
        ADD.mechanisms = ()  # type: ignore[misc]
