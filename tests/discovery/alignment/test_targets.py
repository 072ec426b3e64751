"""What of an algorithm needs a site."""

from carrylens.arithmetic import Operation, algorithm
from carrylens.discovery.alignment.targets import AlignmentTarget, may_merge, merged, targets_of
from carrylens.tasks.variables import Variable
from tasks.small_tasks import PARITY, O, R, S

ADDITION = algorithm(Operation.ADD, 3)


def test_a_variable_has_one_site_for_all_outputs_that_depend_on_it() -> None:
    (first,) = [each for each in targets_of(PARITY, ("R",)) if R[0] in each.variables]
    assert first.outputs == (S, O[5], O[4], O[3]), "the outputs that the first parity comes into"


def test_a_folded_variable_has_one_for_each_output_that_reads_it() -> None:
    found = list(targets_of(ADDITION, ("SV",), ("SV",)))
    assert [str(each) for each in found] == ["SV[0] for A[1]", "SV[1] for A[2]", "SV[2] for A[3]"]
    whole = [str(each) for each in targets_of(ADDITION, ("SV",))]
    assert whole == ["SV[0]", "SV[1]", "SV[2] for A[3]"]


def test_variables_that_are_one_anothers_function_are_one_target() -> None:
    subtraction = algorithm(Operation.SUB, 3)
    found = targets_of(subtraction, ("MB", "NB", "MD", "ND"))
    assert {each.family for each in found if each.variables[0].index == 1} == {"MD ND", "MB NB"}


def test_outputs_that_depend_on_nothing_need_no_site() -> None:
    assert not any(Variable("SGN") in each.variables for each in targets_of(ADDITION, ("SGN", "A")))


def test_only_what_is_made_from_the_same_inputs_may_stand_together() -> None:
    by_name = {str(each.variables[0]): each for each in targets_of(ADDITION, ("SA", "ST", "A"))}
    assert may_merge(ADDITION, by_name["SA[1]"], by_name["ST[1]"])
    assert not may_merge(ADDITION, by_name["SA[1]"], by_name["ST[0]"])
    assert not may_merge(ADDITION, by_name["A[3]"], by_name["A[2]"]), "both read every digit, but are outputs"
    both = merged(by_name["SA[1]"], by_name["ST[1]"])
    assert both == AlignmentTarget((Variable("SA", 1), Variable("ST", 1)), tuple(Variable("A", k) for k in (1, 3, 2)))
