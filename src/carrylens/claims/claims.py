"""Claims: the sentences that follow from a hypothesis, each with what would refute it.

Takes  a hypothesis.
Gives  its claims, in the order they are read.
Never  types one in: all follow from the causal model, its order and its required families.

1. carried: for every token and every variable it needs, some node or group at a valid place carries the variable.
2. order: what a variable is made from is carried where it can reach those who carry the variable.
3. timely: nothing that carries a variable stands where its parts cannot have arrived, or outside places it is given.
4. room: the model has as many nodes one after another as the token needs.
5. apart: a token is moved by no column below it that it does not depend on.
6. answers: untouched, the model is wrong as often as the algorithm is.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum

from carrylens.arithmetic.tokens import place_names
from carrylens.arithmetic.variables import SGN
from carrylens.claims.hypothesis import Hypothesis
from carrylens.claims.structure import TokenNeeds, needs, one_name, same_value
from carrylens.tasks.causal import CausalModel
from carrylens.tasks.variables import Variable


class Kind(Enum):
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

    `variable` is what is claimed of, `token` the token of the answer it is claimed for, `reader` what is made from it.
    `positions` are the valid ones, `steps` the nodes that must come before, `columns` those that must not matter.
    """

    kind: Kind
    sentence: str
    refuted_if: str
    variable: Variable | None = None
    token: Variable | None = None
    reader: Variable | None = None
    required: bool = True
    positions: tuple[int, ...] = ()
    steps: int = 0
    columns: frozenset[int] = frozenset()

    @property
    def name(self) -> str:
        """A short name, the same for the same claim of the same hypothesis.

        >>> from carrylens.arithmetic.variables import A, ST
        >>> Claim(Kind.CARRIED, "", "", ST[3], A[5]).name
        'carried ST[3] for A[5]'
        """
        about = "" if self.variable is None else f" {self.variable}"
        reader = "" if self.reader is None else f" before {self.reader}"
        token = "" if self.token is None else f" for {self.token}"
        return f"{self.kind.value}{about}{reader}{token}"


def claims_of(hypothesis: Hypothesis) -> tuple[Claim, ...]:
    """Every claim of a hypothesis.

    >>> from carrylens.arithmetic import Operation
    >>> from carrylens.arithmetic.hypotheses import left_to_right
    >>> claims = claims_of(left_to_right(Operation.ADD, 6))
    >>> len([claim for claim in claims if claim.required])
    82
    """
    found = list(_answers(hypothesis.model))
    for each in needs(hypothesis):
        found += [*_carried(hypothesis, each), *_order(each), *_room(each), *_apart(hypothesis.model, each)]
    return (*found, *_timely(hypothesis), *_optional(hypothesis))


def spoken(model: CausalModel, variable: Variable) -> str:
    """A variable, with the others that no question tells from it.

    >>> from carrylens.arithmetic import Operation, algorithm
    >>> from carrylens.arithmetic.variables import ST
    >>> spoken(algorithm(Operation.ADD, 3), ST[0])
    'ST[0] (that is, SV[0])'
    """
    same = [str(each) for each in same_value(model).get(variable, ()) if each != variable]
    return f"{variable} (that is, {', '.join(same)})" if same else str(variable)


def _carried(hypothesis: Hypothesis, each: TokenNeeds) -> Iterator[Claim]:
    for variable in each.steps:
        positions = hypothesis.valid_positions(variable, each.token)
        name = spoken(hypothesis.model, variable)
        whom = "" if variable == each.token else f" for {each.token}"
        yield Claim(
            Kind.CARRIED,
            f"A node or group at {_between(hypothesis.model, positions)} carries {name}{whom}.",
            f"every node and group at those places was swapped on pairs that differ in {variable} and would show it in "
            f"{each.token}, and none made {each.token} the counterfactual token in most of them",
            variable,
            each.token,
            positions=positions,
        )


def _order(each: TokenNeeds) -> Iterator[Claim]:
    for part, whole in each.edges:
        yield Claim(
            Kind.ORDER,
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
            Kind.ROOM,
            f"{each.token} takes {n_nodes} nodes one after another, and the model has room for as many.",
            f"the model has fewer than {n_nodes} heads and MLPs one after another",
            token=each.token,
            steps=each.steps[each.token],
        )


def _apart(model: CausalModel, each: TokenNeeds) -> Iterator[Claim]:
    reached = {variable.index for variable in behind(model, each.token) if variable.name in ("D", "D'")}
    own = model.digits - 1 if each.token.digit is None else each.token.digit
    columns = frozenset(range(min(own, model.digits))) - reached  # those above it show in no account at all
    if columns:
        named = ", ".join(map(str, sorted(columns)))
        yield Claim(
            Kind.APART,
            f"{each.token} is moved by no value of column {named} alone.",
            f"a node or group that carries a value of column {named} alone moves {each.token}",
            token=each.token,
            columns=columns,
        )


def behind(model: CausalModel, token: Variable) -> set[Variable]:
    """What a token, or another variable, depends on, the answer's other tokens read as they stand."""
    found, waiting = {token}, [token]
    while waiting:
        at = waiting.pop()
        if at == token or at not in model.outputs:
            parents = model.by_variable[at].parents if at in model.by_variable else ()
            fresh = set(parents) - found
            found |= fresh
            waiting += fresh
    return found


def _timely(hypothesis: Hypothesis) -> Iterator[Claim]:
    steps: dict[Variable, int] = {}
    for each in needs(hypothesis):
        for variable, count in each.steps.items():
            steps[variable] = min(count, steps.get(variable, count))
    for variable, count in steps.items():
        if not count and variable.name not in hypothesis.places:  # nothing could refute that: who has not read it yet
            continue  # cannot know it, whatever the weights are
        positions = hypothesis.valid_positions(variable, None)
        after = f", after {count} other{'s' if count > 1 else ''}," if count else ""
        yield Claim(
            Kind.TIMELY,
            f"Every node that carries {variable} stands where it can be known{after} and may be.",
            f"a node that carries {variable} stands outside {_between(hypothesis.model, positions)}"
            + (f", or in a layer that leaves no room for the {count} before it" if count else ""),
            variable,
            positions=positions,
            steps=count,
        )


def _optional(hypothesis: Hypothesis) -> Iterator[Claim]:
    for variable in hypothesis.model.variables:
        if variable.name in hypothesis.optional and one_name(hypothesis.model)[variable] == variable:
            positions = hypothesis.valid_positions(variable, None)
            yield Claim(
                Kind.CARRIED,
                f"A node or group at {_between(hypothesis.model, positions)} carries {variable}. (Not required.)",
                f"no node or group carries {variable}",
                variable,
                required=False,
                positions=positions,
            )


def _answers(model: CausalModel) -> Iterator[Claim]:
    yield Claim(
        Kind.ANSWERS,
        f"Untouched, the model is wrong as often as {model.name!r} is on the same kind of questions.",
        "the share of wrong answers is surely another one",
    )


def _between(model: CausalModel, positions: tuple[int, ...]) -> str:
    names = [_place(place_names(model.digits)[position], model.digits) for position in positions]
    if not names:
        return "no place"
    whole = tuple(range(positions[0], positions[-1] + 1)) == positions
    if whole and len(names) > 2:
        return f"{names[0]} to {names[-1]}"
    return " or ".join(names)


def _place(name: str, digits: int) -> str:
    # The sign stands at A(n+1), which is no digit.
    return str(SGN) if name == f"A{digits + 1}" else name
