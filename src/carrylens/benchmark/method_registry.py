"""The registry of methods: all that are compared, by name, and open to more.

Takes  names and callables.
Gives  `MethodRegistry`, and the one of the methods that work for any task.
Never  runs one.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace

from carrylens.benchmark.baselines.attention import score_attention
from carrylens.benchmark.baselines.attribution import score_attribution
from carrylens.benchmark.baselines.linear_probes import score_probes
from carrylens.benchmark.carrylens_map import map_by_interchange
from carrylens.benchmark.method_interface import MappingMethod, ScoringMethod
from carrylens.errors import CarryLensError, quote

OURS = "ours"
"""The name of this package's own method."""


@dataclass(frozen=True)
class MethodRegistry:
    """Methods by name: those that report a circuit, and those whose scores need a threshold first.

    >>> MethodRegistry().with_mapping("guess", lambda given: ...).names
    ('guess',)
    """

    mapping: Mapping[str, MappingMethod] = field(default_factory=dict)
    scoring: Mapping[str, ScoringMethod] = field(default_factory=dict)

    @property
    def names(self) -> tuple[str, ...]:
        """All names, in the order in which results are shown."""
        return (*self.mapping, *self.scoring)

    def with_mapping(self, name: str, method: MappingMethod) -> MethodRegistry:
        """The registry with one more method that reports a circuit."""
        self._check_new(name)
        return replace(self, mapping={**self.mapping, name: method})

    def with_scoring(self, name: str, method: ScoringMethod) -> MethodRegistry:
        """The registry with one more method that scores nodes."""
        self._check_new(name)
        return replace(self, scoring={**self.scoring, name: method})

    def only(self, names: Collection[str]) -> MethodRegistry:
        """The methods of these names, in the registry's order; all of them if no name is given."""
        if unknown := [name for name in names if name not in self.names]:
            raise CarryLensError(f"There is no method {unknown[0]!r}. Write one of {', '.join(self.names)}.")
        kept = names or self.names
        return MethodRegistry(
            {name: method for name, method in self.mapping.items() if name in kept},
            {name: method for name, method in self.scoring.items() if name in kept},
        )

    def _check_new(self, name: str) -> None:
        if name in self.names:
            raise CarryLensError(f"{quote(name)} names a method that is there already. Choose another name.")


GENERAL_METHODS = MethodRegistry(
    {OURS: map_by_interchange},
    {"attention": score_attention, "probe": score_probes, "attribution": score_attribution},
)
"""The methods that work for any task."""
