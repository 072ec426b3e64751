"""What of an algorithm needs a site."""

from carrylens.arithmetic import Operation, algorithm
from carrylens.arithmetic.hypotheses import left_to_right
from carrylens.arithmetic.model_shapes import config_of_width
from carrylens.arithmetic.task import arithmetic_task
from carrylens.discovery.alignment.alignment_task import AlignmentTask
from carrylens.discovery.alignment.targets import targets_of
from carrylens.model.transformer import Transformer
from carrylens.tasks.samplers import population_of
from carrylens.tasks.variables import Variable
from tasks.small_tasks import PARITY, O, R, S

ADDITION = algorithm(Operation.ADD, 3)


def test_a_variable_has_one_site_for_all_outputs_that_depend_on_it() -> None:
    (first,) = [each for each in targets_of(PARITY, ("R",)) if R[0] in each.variables]
    assert first.outputs == (S, O[5], O[4], O[3]), "the outputs that the first parity comes into"


def test_a_folded_variable_has_one_for_each_output_that_reads_it() -> None:
    found = list(targets_of(ADDITION, ("SV",), ("SV",)))
    assert [str(each) for each in found] == ["SV[0] for A[1]", "SV[1] for A[2]"]
    assert [str(each) for each in targets_of(ADDITION, ("SV",))] == ["SV[0]", "SV[1]"]


def test_variables_that_are_one_anothers_function_are_one_target() -> None:
    subtraction = algorithm(Operation.SUB, 3)
    found = targets_of(subtraction, ("MB", "NB", "MD", "ND"))
    assert {each.family for each in found if each.variables[0].index == 1} == {"MD ND", "MB NB"}


def test_outputs_that_depend_on_nothing_need_no_site() -> None:
    assert not any(Variable("SGN") in each.variables for each in targets_of(ADDITION, ("SGN", "A")))


def test_a_resolved_carry_that_is_just_its_output_is_no_target_beside_it() -> None:
    names = [str(each) for each in targets_of(ADDITION, ("SA", "ST", "SV", "A"), ("SV",))]
    assert "SV[1] for A[2]" in names
    assert "SV[2] for A[3]" not in names, "A[3] is SV[2]"
    assert "SA[0] for A[0]" in names, "made from digits, it may stand anywhere"


def test_the_operator_and_the_sign_may_have_sites_for_each_output_that_reads_them() -> None:
    mixed = targets_of(algorithm(Operation.MIX, 2), ("A",))
    optional = {str(each) for each in mixed if each.optional}
    assert {"OPR for SGN", "OPR for A[1]", "SGN for A[1]", "SGN for A[0]"} <= optional
    assert not any(each.optional for each in targets_of(ADDITION, ("A",)))


def test_resolved_carries_of_one_kind_that_one_output_reads_are_one_target() -> None:
    stated = left_to_right(Operation.MIX, 3)
    found = [str(each) for each in targets_of(stated.model, stated.required, stated.folded)]
    assert "SV[0] MV[0] NV[0] for A[1]" in found
    assert not any(each.startswith(("MV[0]", "NV[0]")) for each in found)


def test_an_output_stands_for_a_variable_that_is_the_same_and_is_held_like_it() -> None:
    (selected,) = left_to_right(Operation.SUB, 3).forms
    targets = targets_of(selected.model, selected.required, selected.folded)
    (units,) = [at for at, each in enumerate(targets) if each.stands_for]
    assert str(targets[units].stands_for[0]) == "XD[0]"
    task = arithmetic_task(Operation.SUB, 3)
    model = Transformer(config_of_width(3, 2, 3, 12))
    about = AlignmentTask(model, task, selected.model, targets, population_of(task.causal))
    borrows = [at for at, each in enumerate(targets) if each.family.startswith("MB") and each.variables[0].index == 0]
    assert set(borrows) <= set(about.siblings[units]), "made from the same column"
    others = [at for at, each in enumerate(targets) if each.variables == each.outputs and at != units]
    assert not set(others) & about.siblings.keys(), "other outputs have none"
