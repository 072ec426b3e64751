"""Kind styles: the kind of each variable that a map names, in the order in which pictures list kinds, and as CSS.

Takes  a node map.
Gives  family and kind of its variables, its kinds in order, rules for a style sheet.
Never  knows a kind itself: families own theirs, so that a user's own kinds are drawn like any other.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from carrylens.arithmetic.task import ArithmeticTask
from carrylens.arithmetic.variables import KINDS
from carrylens.discovery.node_map import NodeMap
from carrylens.errors import CarryLensError, quote
from carrylens.tasks.variables import Family, Variable, VariableKind

_COLOUR = re.compile(r"#[0-9a-fA-F]{6}", re.ASCII)


def family_of(found: NodeMap, variable: Variable) -> Family:
    """The family of a variable that the map names: its causal model's, or else its task's."""
    for model in (found.causal, found.task.causal):
        if variable.name in model.family_called:
            return model.family(variable)
    raise CarryLensError(f"{variable} is of no family of {found.causal.name!r}. Map the model again.")


def variable_kind(found: NodeMap, variable: Variable) -> VariableKind:
    """The kind of a variable that the map names."""
    return family_of(found, variable).kind


def kinds_of(found: NodeMap) -> tuple[VariableKind, ...]:
    """The kinds of all variables a map can name: of two, the one with the variable that is computed last comes last.

    Those of arithmetic have an order of their own, with a user's own kinds before the answer's.
    """
    variables = (*found.task.causal.variables, *found.causal.variables)
    last = {variable_kind(found, variable): at for at, variable in enumerate(variables)}
    kinds = tuple(sorted(last, key=last.__getitem__))
    if not isinstance(found.task, ArithmeticTask):
        return kinds
    *before, answer = KINDS
    return (*before, *(kind for kind in kinds if kind not in KINDS), answer)


def kinds_of_all(maps: Iterable[NodeMap]) -> tuple[VariableKind, ...]:
    """The kinds of several maps, each once."""
    return tuple(dict.fromkeys(kind for found in maps for kind in kinds_of(found)))


def kind_class(kind: VariableKind) -> str:
    """The class of a kind in a style sheet, apart from all classes that a page has besides.

    >>> from carrylens.tasks.variables import VALUE
    >>> kind_class(VALUE)
    'kind-value'
    """
    return "kind-" + re.sub(r"[^a-z0-9]+", "-", kind.name.lower()).strip("-")


def kind_rules(kinds: Sequence[VariableKind]) -> str:
    """The style sheet's rules for these kinds: the fill and ink of each, on a light and on a dark screen."""
    of_class: dict[str, VariableKind] = {}
    for kind in kinds:
        _check_colours(kind)
        other = of_class.setdefault(kind_class(kind), kind)
        if (other.light, other.dark) != (kind.light, kind.dark):
            raise CarryLensError(
                f"The kinds {quote(other.name)} and {quote(kind.name)} have different colours and cannot be told apart "
                "by name. Give one of them another name."
            )
    light = [_rule(name, *kind.light) for name, kind in of_class.items()]
    dark = [_rule(name, *kind.dark) for name, kind in of_class.items()]
    return "\n".join([*light, "@media screen and (prefers-color-scheme: dark) {", *dark, "}"])


def _rule(name: str, fill: str, ink: str) -> str:
    return f".{name} {{ --fill: {fill}; --ink: {ink}; }}"


def _check_colours(kind: VariableKind) -> None:
    for colour in (*kind.light, *kind.dark):
        if _COLOUR.fullmatch(colour) is None:
            raise CarryLensError(
                f"The kind {quote(kind.name)} has the colour {quote(colour)}. Write it as #rrggbb, such as #fbeeb0."
            )
