"""Sites: where each variable of an algorithm is to stand in a model that is trained to run it.

Takes  an algorithm and a variant.
Gives  the alignment: for every variable the nodes that hold it; and the shape that has these nodes.
Never  trains, and never looks at a weight.

By place:
- D'[k]: layer 0 makes what column k says of its carry.
- the place that predicts A[k]: layer 0 makes the column's digit and fetches sign and operator, the heads of layer 1
  bring the carry, the last MLP combines.
- `=` predicts the sign in the same way.
What a weighted sum says is made in layer 0 at the answer's own place. Behind a gate it stands there together with the
gate, which says whether it counts, and the column's digit.
A later site in the list wins over an earlier one that holds the same variable: it lies behind it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import Enum

from carrylens.alignment import AlignedSite, Alignment
from carrylens.arithmetic.algorithm_model import Algorithm
from carrylens.arithmetic.layout import position_of
from carrylens.arithmetic.questions import Operation
from carrylens.arithmetic.variables import D_PRIME, OPR, SGN
from carrylens.errors import CarryLensError
from carrylens.nodes import Node
from carrylens.tasks.variables import Variable

_DIGITS, _RESOLVED, _WEIGHED = ("SA", "MD", "ND"), ("SV", "MV", "NV"), ("WS", "WM", "WN")
BINARY_CARRIES = " with binary carries"
"""How the names of algorithms end whose columns say two binary things of their carries."""
_COLUMN = ("ST", "MB", "NB", "SC", "S9", "MC", "NC")


class Variant(Enum):
    """How variables and nodes go together."""

    PLAIN = "plain"
    """A site has all nodes of its layer that nothing else needs."""
    LEAN = "lean"
    """What a column says of its carry is held by one head and the MLP: the other heads are idle."""
    REDUNDANT = "redundant"
    """What a column says of its carry is held twice, by two heads."""
    POLYSEMANTIC = "polysemantic"
    """Column digit and carry stand at D'[k] together, and the heads of layer 1 bring both."""


@dataclass(frozen=True)
class Shape:
    """Layers and heads of an aligned model."""

    n_layers: int
    n_heads: int


def shape_for(operation: Operation) -> Shape:
    """The shape that aligned models of an operation have."""
    return Shape(3, 4) if operation is Operation.MIX else Shape(2, 3)


def alignment_of(model: Algorithm, variant: Variant = Variant.PLAIN) -> Alignment:
    """Where the algorithm's variables are to stand.

    >>> from carrylens.arithmetic.algorithms import algorithm
    >>> print(*alignment_of(algorithm(Operation.ADD, 2)).sites[:2], sep="; ")
    ST[0] at P4L0H0 + P4L0H1 + P4L0H2 + P4L0MLP; ST[1] at P3L0H0 + P3L0H1 + P3L0H2 + P3L0MLP
    """
    draft = _Draft(model, variant, shape_for(model.operation))
    if variant is Variant.POLYSEMANTIC and (model.operation is not Operation.ADD or draft.has(*_WEIGHED, "G")):
        raise CarryLensError(
            f"{model.name!r} has no polysemantic variant. Only additions without weighted sums have one."
        )
    return Alignment(model.name, tuple(draft.sites()))


def rival_alignment(model: Algorithm, held: Algorithm, alignment: Alignment) -> Alignment:
    """Where another algorithm would stand in a model that holds `held` by this alignment: at the same sites, if it can.

    So the variant is that of the alignment, or the plain one if the other algorithm does not have it.
    """
    variants = {variant: _alignment_or_none(held, variant) for variant in Variant}
    same = next((variant for variant, made in variants.items() if made == alignment), Variant.PLAIN)
    return _alignment_or_none(model, same) or alignment_of(model)


def _alignment_or_none(model: Algorithm, variant: Variant) -> Alignment | None:
    try:
        return alignment_of(model, variant)
    except CarryLensError:  # the algorithm has no such variant
        return None


def is_held_by(model: Algorithm, name: str, alignment: Alignment) -> bool:
    """Whether a model that holds the algorithm called `name` by an alignment holds this one, too.

    Two binary flags together say what one tri-state value says. One tri-state value says what two flags say, if these
    are to stand together where it stands.
    """
    if model.name in (name, name.removesuffix(BINARY_CARRIES)):
        return True
    if model.name != f"{name}{BINARY_CARRIES}":
        return False
    others = alignment_of(model).sites
    pairs = zip(alignment.sites, others, strict=False)
    return len(others) == len(alignment.sites) and all(set(one.nodes) <= set(other.nodes) for one, other in pairs)


@dataclass(frozen=True)
class _Draft:
    """The sites of one algorithm."""

    model: Algorithm
    variant: Variant
    shape: Shape

    def has(self, *names: str) -> bool:
        return any(variable.name in names for variable in self._variables())

    def sites(self) -> Iterator[AlignedSite]:
        yield from self._columns()
        for output in self.model.outputs:
            if self.model.by_variable[output].parents:
                yield from self._answer(output)

    def _variables(self) -> Iterable[Variable]:
        used = {each for output in self.model.outputs for each in self.model.ancestors(output)}
        return sorted(used | set(self.model.outputs))

    def _of(self, names: Iterable[str], index: int | None) -> tuple[Variable, ...]:
        found = [each for each in self._variables() if each.name in set(names) and each.index == index]
        return tuple(found)

    def _columns(self) -> Iterator[AlignedSite]:
        for k in range(self.model.digits):
            place, held = position_of(D_PRIME[k], self.model.digits), self._of(_COLUMN, k)
            heads = range(self.shape.n_heads)
            if len(held) == 2 and {each.name for each in held} == {"SC", "S9"}:
                yield AlignedSite((held[1],), (_nodes(place, 0, [0]),))
                yield AlignedSite((held[0],), (_nodes(place, 0, [1, 2], mlp=True),))
            elif held and self.variant is Variant.REDUNDANT:
                yield AlignedSite(held, (_nodes(place, 0, [0]), _nodes(place, 0, [1])))
            elif held and self.variant is Variant.LEAN:
                yield AlignedSite(held, (_nodes(place, 0, [0], mlp=True),))
            elif held:
                also = self._of(_DIGITS, k) if self.variant is Variant.POLYSEMANTIC else ()
                yield AlignedSite((*held, *also), (_nodes(place, 0, heads, mlp=True),))

    def _answer(self, output: Variable) -> Iterator[AlignedSite]:
        place = position_of(output, self.model.digits) - 1
        free = iter(range(self.shape.n_heads - 1, -1, -1))  # heads of layer 0 that hold one thing each, from the last
        digits = () if output.index is None else self._of(_DIGITS, output.index)
        carries, weighed = self._carries(output, (*_RESOLVED, "SC", "SU")), self._carries(output, _WEIGHED)
        if gate := self._of(("G",), None) if weighed else ():
            heads = range(self.shape.n_heads - len(tuple(self._switches(output))))
            yield AlignedSite((*gate, *weighed, *digits), (_nodes(place, 0, heads, mlp=True),), (output,))
            digits = ()
        elif weighed:
            yield AlignedSite(weighed, (_nodes(place, 0, [next(free)], mlp=True),), (output,))
        for switch in self._switches(output):
            yield AlignedSite((switch,), (_nodes(place, 0, [next(free)]),), (output,))
        polysemantic = self.variant is Variant.POLYSEMANTIC
        if digits and not polysemantic:
            yield AlignedSite(digits, (_nodes(place, 0, sorted(free), mlp=not weighed),), (output,))
        brought = (*(digits if polysemantic else ()), *carries)
        if brought:
            yield AlignedSite(brought, (_nodes(place, 1, range(self.shape.n_heads)),), (output,))
        yield AlignedSite((output,), (_nodes(place, self.shape.n_layers - 1, [], mlp=True),), (output,))

    def _carries(self, output: Variable, names: tuple[str, ...]) -> tuple[Variable, ...]:
        return tuple(each for each in self.model.by_variable[output].parents if each.name in names)

    def _switches(self, output: Variable) -> Iterator[Variable]:
        for switch in (SGN, OPR):
            if switch in self.model.by_variable[output].parents:
                yield switch


def _nodes(place: int, layer: int, heads: Iterable[int], *, mlp: bool = False) -> tuple[Node, ...]:
    return tuple(sorted([*(Node(place, layer, head) for head in heads), *([Node(place, layer, None)] if mlp else [])]))
