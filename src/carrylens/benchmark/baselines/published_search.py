"""The published search: single heads, mean ablation, attention, and an output that changes.

Takes  what a method is given, and which families of variables the search has which test for.
Gives  the roles of heads that the paper's search, as it is described and as its code has it, would report.
Never  looks at MLPs, or at families without a test; has no groups.

1. A head is useful if some question fails when the head alone writes its mean.
2. Of the useful heads, those are tested for a variable that look at its inputs (all among the places they look at most)
   and stand where those have been read.
3. The head's output is interchanged on matched pairs. For a family of `own_output` it passes if the output of the
   variable's own index changes in any of them, for one of `any_output` if any output changes.
4. Variables that are a token by themselves pass on attention alone: a useful head that looks at that token most.
The structure test (clusters) is left out, because in the published code it is always true.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from carrylens.benchmark.candidates import can_know, candidate_variables, input_positions, token_position
from carrylens.benchmark.method_interface import Found, FoundRole, Given
from carrylens.discovery.ablations import ablate_sets
from carrylens.discovery.attention import average_pattern, top_places
from carrylens.errors import CarryLensError
from carrylens.interventions.edits import interchange
from carrylens.interventions.engine import Engine
from carrylens.nodes import Node
from carrylens.tasks.pairs import effect_pairs
from carrylens.tasks.samplers import population_of
from carrylens.tasks.variables import Variable

_QUESTIONS = 128
_PAIRS = 16


@dataclass(frozen=True)
class PublishedSearch:
    """The search, with the families whose variables show in the output of their own index, and in any output."""

    own_output: tuple[str, ...]
    any_output: tuple[str, ...]

    def __call__(self, given: Given) -> Found:
        """Every head and variable that passes."""
        engine = Engine(given.model, given.task)
        looks = _looks(given, engine)
        roles: set[FoundRole] = set()
        for variable in candidate_variables(given.causal):
            own = token_position(given, variable)
            if own is not None:
                roles |= {FoundRole.of(head, variable) for head, positions in looks.items() if positions[:1] == [own]}
            elif variable.name in self.own_output + self.any_output:
                roles |= {FoundRole.of(head, variable) for head in self._passing(given, engine, variable, looks)}
        return Found(tuple(roles))

    def _passing(
        self, given: Given, engine: Engine, variable: Variable, looks: Mapping[Node, Sequence[int]]
    ) -> list[Node]:
        wanted = set(input_positions(given, variable))
        heads = [head for head, at in looks.items() if wanted <= set(at) and can_know(given, head, variable)]
        if not heads or variable.index is None:
            return []
        try:
            pairs = effect_pairs(given.causal, variable, _PAIRS, given.seed)
        except CarryLensError:  # a variable whose value no question can show
            return []
        outcomes = engine.run([interchange([head]) for head in heads], pairs.base, pairs.source)
        tested = self._tested_outputs(given, variable)
        changed = np.asarray(outcomes.changed[:, :, tested].any((1, 2)))
        return [head for head, passes in zip(heads, changed, strict=True) if passes]

    def _tested_outputs(self, given: Given, variable: Variable) -> list[int]:
        every = list(enumerate(given.causal.outputs))
        return [at for at, output in every if variable.name in self.any_output or output.index == variable.index]


def _looks(given: Given, engine: Engine) -> dict[Node, list[int]]:
    # The positions that each useful head looks at most, in order.
    population, layout = population_of(given.causal), given.task.layout
    questions, reference = (population.draw(given.seed, start, _QUESTIONS) for start in (0, _QUESTIONS))
    heads = [node for node in given.nodes if not node.is_mlp]
    ablated = ablate_sets(engine, [(head,) for head in heads], questions, reference)
    useful = [h for h, failed in zip(heads, ablated.failed[:, 0], strict=True) if (failed & ~ablated.clean).any()]
    pattern = average_pattern(given.model, given.task, questions)
    return {
        head: [
            layout.position(look.place) for look in top_places(pattern, head, "", layout.place_names, _QUESTIONS).looks
        ]
        for head in useful
    }
