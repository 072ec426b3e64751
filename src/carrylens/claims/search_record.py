"""The search behind a map: what was looked for, and with how many questions that could have shown it.

Takes  a node map.
Gives  `SearchRecord`: for a variable and an output the number of pairs that could have shown it; whether groups were
       searched; the map's variables that have the same value as one of a hypothesis.
Never  takes silence for absence: what was not looked for was not found missing.

A map's `stimuli` says how it was searched: `n_find`, `n_confirm` and `seed` as in the search's settings (at the top,
under `settings`, or under its `roles`), `groups` true if groups were searched as well as single nodes, `stream` the
name of the population that the model was evaluated on. The pairs are drawn again from those, and counted.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, cached_property

from carrylens.claims.structure import value_keys
from carrylens.discovery.node_map import NearMiss, NodeMap, Order, Role
from carrylens.discovery.stimulus_spec import MADE_FOR, MADE_FOR_OUTPUT, Split, saved_spec
from carrylens.errors import CarryLensError
from carrylens.tasks.causal import CausalModel
from carrylens.tasks.optional_pairs import optional_claims, optional_pairs, unneeded_variables
from carrylens.tasks.output_pairs import output_pairs, shown_outputs
from carrylens.tasks.pairs import interchange_pairs
from carrylens.tasks.variables import Variable

_MOST_EVALUATED = 1_000_000  # questions that are drawn again to see what an algorithm answers
_USUAL = "enriched"  # what maps call the population of the task's causal model, whether or not a sampler has that name


@dataclass(frozen=True, eq=False)
class SearchRecord:
    """What a map's search could have found."""

    found: NodeMap

    @property
    def causal(self) -> CausalModel:
        """The causal model whose variables were looked for."""
        return self.found.causal

    @property
    def groups(self) -> bool:
        """Whether sets that only act together were searched too."""
        return bool(self._said.get("groups"))

    @property
    def sampler(self) -> str:
        """The name of the sampler that the model was evaluated on without intervention."""
        said = self._said.get("stream")
        return said if isinstance(said, str) and said in self.found.task.samplers else _USUAL

    @property
    def evaluated(self) -> tuple[int, int] | None:
        """The seed and number of the questions that it was evaluated on; None if the map does not say."""
        seed, count = self._said.get("seed"), self._said.get("n_questions")
        if type(seed) is not int or type(count) is not int:
            return None
        return (seed, count) if seed >= 0 and 0 < count <= _MOST_EVALUATED else None

    @property
    def n_confirm(self) -> int:
        """On how many pairs the search confirmed what it had found; 0 if the map does not say."""
        said = self._said.get("n_confirm")
        return said if type(said) is int else 0

    def matches(self, model: CausalModel, variable: Variable) -> frozenset[Variable]:
        """The map's variables that are the hypothesis' own: the same output, or the same value in all questions."""
        if variable in model.outputs:
            mine = value_keys(self.causal).get(variable)
            return frozenset(self._by_value.get(mine or b"", ())) | {variable}
        return frozenset(self._by_value.get(value_keys(model, self.causal).get(variable, b""), ()))

    def carriers(self, model: CausalModel, variable: Variable, token: Variable | None) -> list[Role]:
        """The roles of everything that carries `variable` for `token`, or for any output; the surest first."""
        names = self.matches(model, variable)
        place = None if token is None else self.causal.outputs.index(token)
        roles = [
            role
            for role in (*self.found.roles, *self.found.optional)
            if place in (None, role.token) and not names.isdisjoint({role.variable, *role.same_as})
        ]
        return sorted(roles, key=lambda role: (-role.hit.interval[0], len(role.nodes), role.nodes))

    def orders(self, model: CausalModel, part: Variable, whole: Variable, token: Variable | None) -> list[Order]:
        """What withholding a part from a whole did, for an output."""
        parts, wholes = self.matches(model, part), self.matches(model, whole)
        place = None if token is None else self.causal.outputs.index(token)
        named = [each for each in self.found.orders if each.part_variable in parts and each.whole_variable in wholes]
        return [each for each in named if place in (None, each.token)]

    def near_misses(self, model: CausalModel, variable: Variable, token: Variable | None) -> list[NearMiss]:
        """Sets that moved `token`, or any output, as `variable` would, where no set got the role."""
        names = self.matches(model, variable)
        place = None if token is None else self.causal.outputs.index(token)
        return [each for each in self.found.near_misses if each.variable in names and place in (None, each.token)]

    def n_visible(self, model: CausalModel, variable: Variable, token: Variable | None) -> int | None:
        """How many of the search's pairs could have shown the variable in the output; None if it was not searched."""
        spec = saved_spec(self.found.stimuli, Split.FIND)
        if spec is None:
            return None
        visible = _made if self.found.stimuli.get(MADE_FOR) == MADE_FOR_OUTPUT else _visible
        counts = [visible(self.causal, each, spec.count, spec.seed) for each in self.matches(model, variable)]
        shown = [count for count in counts if count is not None]
        if not shown:
            return None
        return max(max(count) if token is None else count[self.causal.outputs.index(token)] for count in shown)

    @cached_property
    def _said(self) -> Mapping[str, object]:
        settings = _inside(self.found.stimuli, "settings")
        return {**_inside(settings, "roles"), **settings, **self.found.stimuli}

    @cached_property
    def _by_value(self) -> Mapping[bytes, list[Variable]]:
        groups: dict[bytes, list[Variable]] = {}
        for variable, key in value_keys(self.causal).items():
            groups.setdefault(key, []).append(variable)
        return groups


def _inside(said: Mapping[str, object], name: str) -> Mapping[str, object]:
    inner = said.get(name)
    return inner if isinstance(inner, Mapping) else {}


@cache
def _made(model: CausalModel, variable: Variable, count: int, seed: int) -> tuple[int, ...] | None:
    # How many pairs the search had that were made for each output, of the variable or of what it may be read by.
    if variable in unneeded_variables(model):
        asked = [claim for claim in optional_claims(model) if claim.variable == variable]
        found = [(claim.output, optional_pairs(model, claim, count, seed)) for claim in asked]
        most = {output: min(map(len, pairs)) for output, pairs in found if pairs is not None}
        return tuple(most.get(output, 0) for output in model.outputs) if most else None
    shown, numbers = shown_outputs(model, variable), []
    for output in model.outputs:
        try:
            numbers.append(len(output_pairs(model, variable, output, count, seed)) if output in shown else 0)
        except CarryLensError:
            numbers.append(0)
    return tuple(numbers) if any(numbers) else None


@cache
def _visible(model: CausalModel, variable: Variable, count: int, seed: int) -> tuple[int, ...] | None:
    # In how many of the search's pairs each output would change, and to the source's own: then an interchange of all
    # components that know the variable shows it, whatever else they know. Outputs that are fed back before it must
    # stay: the model has read the base's, and one that reveals the base's value works against the interchange. None
    # where no question can show the variable.
    try:
        pairs = interchange_pairs(model, variable, count, seed)
    except CarryLensError:
        return None
    own, source, moved = model.output_values(pairs.base), model.output_values(pairs.source), pairs.counterfactual()
    changed = own != moved
    first = changed & (changed.cumsum(axis=1) == 1) if model.fed_back else changed
    return tuple(int(number) for number in (first & (source == moved)).sum(0))
