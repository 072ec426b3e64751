"""Claims: the sentences that follow from a hypothesis, each with what would refute it.

Takes  a hypothesis and a layout.
Gives  its claims, in the order they are read.
Never  types one in: all follow from the causal model, its order and its required families.

1. carried: for every output and every variable it needs, a node or group at a valid place carries the variable.
2. order: what a variable is made from is carried where it can reach the carriers of that variable.
3. timely: nothing carries a variable before its parts can have arrived, or outside the places it is given.
4. room: the model has as many nodes in sequence as the output needs.
5. apart: an output is moved by no inputs of a lower index that it does not depend on.
6. answers: without intervention, the model is wrong as often as the algorithm is.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum

from carrylens.claims.hypothesis import Hypothesis
from carrylens.claims.structure import TokenNeeds, dependencies, needs, one_name, same_value
from carrylens.tasks.causal import CausalModel
from carrylens.tasks.grid import grid_of
from carrylens.tasks.layout import Layout
from carrylens.tasks.variables import Variable


class ClaimKind(Enum):
    """What a claim is about."""

    CARRIED = "carried"
    ORDER = "order"
    TIMELY = "timely"
    ROOM = "room"
    APART = "apart"
    ANSWERS = "answers"


@dataclass(frozen=True)
class Claim:
    """One sentence that can be false.

    `variable` is what it is about, `token` the output it is claimed for, `reader` what is made from the variable.
    `positions` are the valid ones, `steps` counts the nodes that must come before, `indices` are those of inputs that
    must not matter.
    """

    kind: ClaimKind
    sentence: str
    refuted_if: str
    variable: Variable | None = None
    token: Variable | None = None
    reader: Variable | None = None
    required: bool = True
    positions: tuple[int, ...] = ()
    steps: int = 0
    indices: frozenset[int] = frozenset()

    @property
    def name(self) -> str:
        """A short name, the same for the same claim of the same hypothesis.

        >>> from carrylens.arithmetic.variables import A, ST
        >>> Claim(ClaimKind.CARRIED, "", "", ST[3], A[5]).name
        'carried ST[3] for A[5]'
        """
        about = "" if self.variable is None else f" {self.variable}"
        reader = "" if self.reader is None else f" before {self.reader}"
        token = "" if self.token is None else f" for {self.token}"
        return f"{self.kind.value}{about}{reader}{token}"


def claims_of(hypothesis: Hypothesis, layout: Layout) -> tuple[Claim, ...]:
    """Every claim of a hypothesis about models of this layout.

    >>> from carrylens.arithmetic import Operation
    >>> from carrylens.arithmetic.hypotheses import left_to_right
    >>> from carrylens.arithmetic.task import arithmetic_task
    >>> claims = claims_of(left_to_right(Operation.ADD, 6), arithmetic_task(Operation.ADD, 6).layout)
    >>> len([claim for claim in claims if claim.required])
    82
    """
    found = list(_answers(hypothesis.model))
    for each in needs(hypothesis):
        found += [*_carried(hypothesis, each, layout), *_order(each), *_room(each), *_apart(hypothesis.model, each)]
    return (*found, *_timely(hypothesis, layout), *_optional(hypothesis, layout))


def spoken(model: CausalModel, variable: Variable) -> str:
    """A variable, with the others that no question tells from it.

    >>> from carrylens.arithmetic import Operation, algorithm
    >>> from carrylens.arithmetic.variables import ST
    >>> spoken(algorithm(Operation.ADD, 3), ST[0])
    'ST[0] (that is, SV[0])'
    """
    same = [str(each) for each in same_value(model).get(variable, ()) if each != variable]
    return f"{variable} (that is, {', '.join(same)})" if same else str(variable)


def _carried(hypothesis: Hypothesis, each: TokenNeeds, layout: Layout) -> Iterator[Claim]:
    for variable in each.steps:
        positions = hypothesis.valid_positions(variable, each.token, layout)
        name = spoken(hypothesis.model, variable)
        whom = "" if variable == each.token else f" for {each.token}"
        yield Claim(
            ClaimKind.CARRIED,
            f"A node or group at {_between(layout, positions)} carries {name}{whom}.",
            f"interchange interventions on every node and group at those places, with pairs that differ in {variable} "
            f"and would show it in {each.token}, did not make {each.token} the counterfactual token in most pairs",
            variable,
            each.token,
            positions=positions,
        )


def _order(each: TokenNeeds) -> Iterator[Claim]:
    for part, whole in each.edges:
        yield Claim(
            ClaimKind.ORDER,
            f"For {each.token}, {part} is carried by nodes whose writing reaches those that carry {whole}.",
            f"no carrier of {part} comes before a carrier of {whole}: at the same or an earlier position, and in an "
            "earlier layer or as a head before the MLP of its own place and layer",
            part,
            each.token,
            reader=whole,
        )


def _room(each: TokenNeeds) -> Iterator[Claim]:
    n_nodes = 1 + each.steps[each.token]
    if n_nodes > 2:  # one layer has a head and an MLP: nothing could refute less
        yield Claim(
            ClaimKind.ROOM,
            f"{each.token} takes {n_nodes} nodes one after another, and the model has room for as many.",
            f"the model has fewer than {n_nodes} heads and MLPs one after another",
            token=each.token,
            steps=each.steps[each.token],
        )


def _apart(model: CausalModel, each: TokenNeeds) -> Iterator[Claim]:
    grid = grid_of(model)
    own = grid.size - 1 if each.token.index is None else each.token.index
    below = {index for index in grid.indices_of(model.inputs) if index < own}  # what is above it shows in no hypothesis
    indices = frozenset(below - set(grid.indices_of(dependencies(model, each.token))))
    if indices:
        named = ", ".join(map(str, sorted(indices)))
        yield Claim(
            ClaimKind.APART,
            f"{each.token} is moved by no value that is made from inputs of index {named} alone.",
            f"a node or group that carries a value made from inputs of index {named} alone moves {each.token}",
            token=each.token,
            indices=indices,
        )


def _timely(hypothesis: Hypothesis, layout: Layout) -> Iterator[Claim]:
    steps: dict[Variable, int] = {}
    for each in needs(hypothesis):
        for variable, count in each.steps.items():
            steps[variable] = min(count, steps.get(variable, count))
    for variable, count in steps.items():
        if not count and variable.name not in hypothesis.places:  # nothing could refute that: a node that has not read
            continue  # the inputs yet cannot know it, whatever the weights are
        positions = hypothesis.valid_positions(variable, None, layout)
        after = f", after {count} other{'s' if count > 1 else ''}," if count else ""
        yield Claim(
            ClaimKind.TIMELY,
            f"Every node that carries {variable} stands where it can be known{after} and may be.",
            f"a node that carries {variable} stands outside {_between(layout, positions)}"
            + (f", or in a layer that leaves no room for the {count} before it" if count else ""),
            variable,
            positions=positions,
            steps=count,
        )


def _optional(hypothesis: Hypothesis, layout: Layout) -> Iterator[Claim]:
    for variable in hypothesis.model.variables:
        if variable.name in hypothesis.optional and one_name(hypothesis.model)[variable] == variable:
            positions = hypothesis.valid_positions(variable, None, layout)
            yield Claim(
                ClaimKind.CARRIED,
                f"A node or group at {_between(layout, positions)} carries {variable}. (Not required.)",
                f"no node or group carries {variable}",
                variable,
                required=False,
                positions=positions,
            )


def _answers(model: CausalModel) -> Iterator[Claim]:
    yield Claim(
        ClaimKind.ANSWERS,
        f"Untouched, the model is wrong as often as {model.name!r} is on the same kind of questions.",
        "the share of wrong answers is surely another one",
    )


def _between(layout: Layout, positions: tuple[int, ...]) -> str:
    names = [_place(layout, position) for position in positions]
    if not names:
        return "no place"
    whole = tuple(range(positions[0], positions[-1] + 1)) == positions
    if whole and len(names) > 2:
        return f"{names[0]} to {names[-1]}"
    return " or ".join(names)


def _place(layout: Layout, position: int) -> str:
    # An output of which there is only one goes by its own name, which says more than its place's.
    output = layout.slots[position].output
    return str(output) if output is not None and output.index is None else layout.place_names[position]
