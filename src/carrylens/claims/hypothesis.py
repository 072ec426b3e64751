"""The statement of a hypothesis: the causal model, and what of it must be seen in a network.

Takes  a causal model and the names of families of its variables.
Gives  `Hypothesis`: which positions a variable may stand at, derived from when it can be known and when it is read.
Never  lists claims: `claims.py` derives them.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field

from carrylens.errors import CarryLensError, quote
from carrylens.tasks.causal import CausalModel
from carrylens.tasks.layout import Layout
from carrylens.tasks.task import Task
from carrylens.tasks.timeline import first_computable
from carrylens.tasks.variables import Variable

PlaceRule = Callable[[int], Collection[str]]
"""From an index to the names of the places at which its variable may stand, such as `lambda k: [f"D'{k}"]`."""


@dataclass(frozen=True)
class Hypothesis:
    """That a network runs `model`, and that the variables of the `required` families can be seen in it.

    | field | meaning |
    |---|---|
    | `required` | families whose variables must be carried, for every output that depends on them |
    | `optional` | families that are looked for and reported, and decide nothing |
    | `folded` | families required only for the outputs that read them directly: an associative chain may be folded in one step, so its intermediate values may never stand anywhere |
    | `gates` | inputs without an index that switch variables on: an output that reads a variable only at one value of a gate, and equals it there, does not require it |
    | `forms` | other ways to state the same algorithm, which do the same steps in another order: a model runs it if it runs one of them |
    | `places` | for a family the only places where its variables may stand; without it, anywhere from where a variable can be known to where it is read |
    """  # noqa: E501

    name: str
    model: CausalModel
    required: tuple[str, ...]
    optional: tuple[str, ...] = ()
    folded: tuple[str, ...] = ()
    gates: tuple[Variable, ...] = ()
    places: Mapping[str, PlaceRule] = field(default_factory=dict, hash=False)
    forms: tuple[Hypothesis, ...] = ()

    def __post_init__(self) -> None:
        known = {variable.name for variable in self.model.variables}
        for name in (*self.required, *self.optional, *self.folded, *self.places):
            if name not in known:
                names = " ".join(sorted(known))
                raise CarryLensError(
                    f"{quote(str(name))} is not a family of {self.model.name!r}. Name some of {names}."
                )
        switches = [variable for variable in self.model.inputs if variable.index is None]
        for gate in self.gates:
            if gate not in switches:
                some = " ".join(map(str, switches)) or "none: this one has no such input"
                raise CarryLensError(f"{quote(str(gate))} is not a gate. Name an input without an index: {some}.")

    def valid_positions(self, variable: Variable, token: Variable | None, layout: Layout) -> tuple[int, ...]:
        """Where `variable` may stand to serve the output `token`, or any output: known by then, and not yet read.

        >>> from carrylens.arithmetic import Operation
        >>> from carrylens.arithmetic.hypotheses import left_to_right
        >>> from carrylens.arithmetic.task import arithmetic_task
        >>> from carrylens.arithmetic.variables import A, SV
        >>> layout = arithmetic_task(Operation.ADD, 3).layout
        >>> left_to_right(Operation.ADD, 3).valid_positions(SV[1], A[2], layout)  # D'0, =, sign, A3
        (6, 7, 8, 9)
        """
        last = layout.reads[-1] if token is None else layout.read_position(token)
        window = range(first_computable(self.model, layout, variable), last + 1)
        if variable.name not in self.places:
            return tuple(window)
        allowed = set(self.places[variable.name](variable.index or 0))
        if strangers := allowed - set(layout.place_names):
            raise CarryLensError(
                f"{self.name!r} puts {variable} at {', '.join(sorted(strangers))}, which is not a place of this "
                "layout. "
                f"Name some of {' '.join(layout.place_names)}."
            )
        return tuple(position for position in window if layout.place_names[position] in allowed)

    def check_fits(self, task: Task) -> None:
        """Raise a clear error unless the hypothesis is about the questions and answers of `task`."""
        mine, its = self.model, task.causal
        for what, one, other in (
            ("reads", mine.inputs, its.inputs),
            ("puts out", mine.outputs, its.outputs),
            ("is for questions where", _fixed(mine), _fixed(its)),
        ):
            if one != other:
                raise CarryLensError(
                    f"{self.name!r} {what} {_listed(one)}, but {task.name!r} has {_listed(other)}. "
                    "State the hypothesis for the task of the map."
                )


def _fixed(model: CausalModel) -> tuple[str, ...]:
    return tuple(f"{variable} is {model.family(variable).label(value)}" for variable, value in model.fixed)


def _listed(some: Sequence[object]) -> str:
    names = [str(each) for each in some]
    return ", ".join(names if len(names) < 5 else [*names[:2], "...", names[-1], f"{len(names)} in all"]) or "nothing"
