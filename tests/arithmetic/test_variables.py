import pytest

from carrylens.arithmetic import Operation, Population, PopulationKind, algorithm
from carrylens.arithmetic.variables import D_PRIME, FAMILIES, OPR, SGN, ST, SV, A, D, U, label
from carrylens.errors import CarryLensError
from carrylens.tasks.variables import UNKNOWN, Variable

DIGITS = tuple(range(10))
DOMAINS = {
    **dict.fromkeys(("D", "D'", "SA", "MD", "ND", "A", "R"), DIGITS),
    **dict.fromkeys(("SC", "SV", "MC", "MV", "NC", "NV", "SGN", "OPR", "S9", "SU", "C", "B", "Z"), (0, 1)),
    **dict.fromkeys(("WS", "WM", "WN"), (0, 1)),
    **dict.fromkeys(("ST", "MB", "NB"), (0, 1, U)),
}


def test_there_are_these_families_and_each_takes_these_values() -> None:
    assert {name: family.values for name, family in FAMILIES.items()} == DOMAINS


@pytest.mark.parametrize("name", sorted(DOMAINS))
def test_every_variable_survives_printing_and_reading(name: str) -> None:
    for digit in [None] if name in ("OPR", "SGN") else [0, 3, 10, 39]:
        variable = Variable(name, digit)
        assert Variable.parse(str(variable)) == variable
        values = FAMILIES[name].values_at(digit)
        assert values == DOMAINS[name] or (digit == 0 and name in ("ST", "MB", "NB"))


@pytest.mark.parametrize("name", ["ST", "MB", "NB"])
def test_only_the_units_are_never_uncertain(name: str) -> None:
    assert FAMILIES[name].values_at(0) == (0, 1)
    assert FAMILIES[name].values_at(1) == (0, 1, U)


def test_variables_are_written_with_their_digit_in_brackets() -> None:
    assert [str(variable) for variable in (ST[3], D_PRIME[0], A[10], OPR, SGN)] == [
        "ST[3]",
        "D'[0]",
        "A[10]",
        "OPR",
        "SGN",
    ]
    assert Variable.parse("  SV[12] ") == SV[12]


@pytest.mark.parametrize(
    "text",
    [
        *("", " ", "ST[]", "ST[-1]", "ST[3", "ST[3]]", "[3]", "3", "3[1]", "_ST[1]", "S'T[1]", "ST[1000]"),
        *("D''[1]", "ST[٣]", "ST[1.0]", "ST[ 3]", "ST [3]", "ST[3] SV[3]", "S T[3]", "ST\n[3]", "ST-[3]"),
    ],
)
def test_what_names_no_variable_is_quoted_and_told_what_to_write(text: str) -> None:
    with pytest.raises(CarryLensError) as caught:
        Variable.parse(text)
    assert repr(text) in str(caught.value)
    assert "ST[3]" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_digit_of_thousands_of_figures_is_refused_as_any_other_mistake() -> None:
    with pytest.raises(CarryLensError) as caught:
        Variable.parse(f"ST[{'9' * 5000}]")
    assert len(str(caught.value)) < 400


def test_uncertain_and_unknown_are_two_things() -> None:
    assert U not in (0, 1)
    assert all(UNKNOWN not in family.values for family in FAMILIES.values())


def test_values_are_labelled_as_people_write_them() -> None:
    assert [label(ST[3], value) for value in (0, 1, U)] == ["0", "1", "U"]
    assert [label(SGN, value) for value in (0, 1)] == ["+", "-"]
    assert [label(OPR, value) for value in (0, 1)] == ["+", "-"]
    assert [label(A[0], value) for value in DIGITS] == list("0123456789")
    assert [label(SV[0], value) for value in (0, 1)] == ["0", "1"]


@pytest.mark.parametrize("variable", [SGN, OPR])
def test_a_sign_that_is_not_known_is_not_written_as_a_sign(variable: Variable) -> None:
    assert label(variable, UNKNOWN) not in ("+", "-")


def test_the_column_below_the_units_does_not_exist() -> None:
    assert SV.below(3) == (SV[2],)
    assert SV.below(1) == (SV[0],)
    assert SV.below(0) == ()


def test_variables_can_be_keys_and_sorted() -> None:
    assert {ST[1]: "here"}[Variable("ST", 1)] == "here"
    assert sorted([ST[10], D[1], ST[2]]) == [D[1], ST[2], ST[10]]


@pytest.mark.parametrize(("name", "digit"), [("", 0), ("3", None), ("S T", 1), ("SV", -1), ("SV", 1000), ("D''", 0)])
def test_what_could_not_be_read_again_cannot_be_made(name: str, digit: int | None) -> None:
    with pytest.raises(CarryLensError):
        Variable(name, digit)


@pytest.mark.parametrize(
    "variable", [Variable("XX", 0), Variable("ST"), Variable("OPR", 1), Variable("SV", 3)], ids=str
)
@pytest.mark.parametrize("operation", list(Operation))
def test_a_name_that_no_algorithm_has_is_refused_where_it_is_used(operation: Operation, variable: Variable) -> None:
    """A variable is a pure name: whether there is one of it, a causal model says, and says what it has."""
    model, questions = algorithm(operation, 3), Population(PopulationKind.NATURAL, operation, 3).draw(0, 0, 2)
    for use in (model.check, model.ancestors, model.inputs_of, lambda each: model.run(questions, read=[each])):
        with pytest.raises(CarryLensError, match="OPR"):
            use(variable)


def test_a_variable_may_be_given_as_text() -> None:
    assert Variable.of("ST[3]") == Variable.of(ST[3]) == ST[3]
