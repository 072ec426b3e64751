"""The causal graph: variables with parents, and what follows from who depends on whom.

Takes  families, inputs, outputs, and a mechanism for every other variable.
Gives  ancestors, the inputs behind a variable, outputs that others depend on; clear errors for what does not fit.
Never  runs a rule: `causal.py` does.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property

from numpy.typing import ArrayLike

from carrylens.errors import CarryLensError
from carrylens.tasks.variables import Family, Variable

Rule = Callable[..., ArrayLike]
"""Takes one array per parent, all of one shape, and gives an array of that shape or a single number."""


@dataclass(frozen=True)
class Mechanism:
    """How one variable comes by its value: `rule` applied to its parents' values."""

    variable: Variable
    parents: tuple[Variable, ...]
    rule: Rule


@dataclass(frozen=True, eq=False)
class CausalGraph:
    """What depends on what: each mechanism stands after those it needs, `outputs` are in the order they are put out.

    Outputs that are `fed_back` are read by what follows them.
    """

    name: str
    families: tuple[Family, ...]
    inputs: tuple[Variable, ...]
    outputs: tuple[Variable, ...]
    mechanisms: tuple[Mechanism, ...]
    fixed: tuple[tuple[Variable, int], ...] = ()
    fed_back: bool = True

    def __post_init__(self) -> None:
        known = set(self.inputs)
        for mechanism in self.mechanisms:
            missing = [str(parent) for parent in mechanism.parents if parent not in known]
            if missing:
                raise CarryLensError(
                    f"{mechanism.variable} of {self.name!r} needs {', '.join(missing)}, which nothing before it gives. "
                    "Put every mechanism after those of its parents."
                )
            if mechanism.variable in known:
                raise CarryLensError(f"{mechanism.variable} of {self.name!r} is stated twice. State it once.")
            known.add(mechanism.variable)
        if len(self.family_called) < len(self.families):
            raise CarryLensError(f"{self.name!r} declares a family twice. Give every family a name of its own.")
        for variable in (*self.variables, *self.outputs):
            if variable.name not in self.family_called:
                raise CarryLensError(
                    f"{variable} of {self.name!r} is of no family. Declare the family {variable.name}."
                )
            if variable not in known:
                raise CarryLensError(f"{self.name!r} puts out {variable}, which nothing gives. Give it a mechanism.")
        for variable in self.inputs:
            if self.family(variable).first_values is not None:
                raise CarryLensError(
                    f"The inputs {variable.name} of {self.name!r} must have one set of values. Give it."
                )

    @cached_property
    def family_called(self) -> Mapping[str, Family]:
        """The families by name."""
        return {family.name: family for family in self.families}

    def family(self, variable: Variable) -> Family:
        """The family of a variable."""
        return self.family_called[variable.name]

    def values_of(self, variable: Variable) -> tuple[int, ...]:
        """Every value that a variable can take."""
        return self.family(variable).values_at(variable.index)

    @cached_property
    def by_variable(self) -> Mapping[Variable, Mechanism]:
        """The mechanism of each variable that is not an input."""
        return {mechanism.variable: mechanism for mechanism in self.mechanisms}

    @cached_property
    def variables(self) -> tuple[Variable, ...]:
        """Every variable, inputs first, each after its parents."""
        return (*self.inputs, *self.by_variable)

    def ancestors(self, variable: Variable) -> frozenset[Variable]:
        """All that `variable` depends on, itself left out."""
        self.check(variable)
        return self._ancestors.get(variable, frozenset())

    def inputs_of(self, variable: Variable) -> frozenset[Variable]:
        """The inputs that `variable` depends on; an input depends on itself."""
        self.check(variable)
        return self._inputs_of[variable]

    @cached_property
    def _inputs_of(self) -> Mapping[Variable, frozenset[Variable]]:
        inputs = frozenset(self.inputs)
        return {variable: inputs & {variable, *self.ancestors(variable)} for variable in self.variables}

    @cached_property
    def _ancestors(self) -> Mapping[Variable, frozenset[Variable]]:
        found: dict[Variable, frozenset[Variable]] = {}
        for mechanism in self.mechanisms:
            found[mechanism.variable] = frozenset(mechanism.parents).union(
                *(found.get(parent, frozenset()) for parent in mechanism.parents)
            )
        return found

    @cached_property
    def steering(self) -> tuple[Variable, ...]:
        """The outputs that later outputs depend on: once put out, they are read as they stand."""
        return tuple(
            output
            for at, output in enumerate(self.outputs)
            if self.fed_back and any(output in self.ancestors(later) for later in self.outputs[at + 1 :])
        )

    def check(self, variable: Variable) -> None:
        """Raise a clear error unless this algorithm has `variable`."""
        if variable not in self._known:
            names = " ".join(dict.fromkeys(known.name for known in self.variables))
            raise CarryLensError(
                f"{self.name!r} has no variable {variable}. It has {names}, each for the indices it needs, such as "
                f"{next(iter(self.by_variable), self.inputs[0])}."
            )

    @cached_property
    def _known(self) -> frozenset[Variable]:
        return frozenset(self.variables)
