"""Trials: random interventions on several targets at once, and how often the algorithm says what the model then does.

Takes  a model, its task, a causal model, targets, questions.
Gives  for any placement of nodes which outputs come out as predicted, and which should have changed.
Never  chooses a placement.

Each row of a trial moves some targets to the values they have in other rows, and in some rows every node without a
target takes its write from another row, too. Interventions are drawn once, so that placements are compared on the same.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import torch
from numpy.typing import NDArray

from carrylens.alignment import AlignedSite, Alignment
from carrylens.discovery.alignment.targets import AlignmentTarget
from carrylens.model.interchange_pass import OWN, PassWrites, Sources, clean_pass, interchange_pass
from carrylens.model.transformer import Transformer
from carrylens.nodes import Node, all_nodes
from carrylens.tasks.batches import Batch
from carrylens.tasks.causal import CausalModel, Values
from carrylens.tasks.interchanged import Taken, interchanged_outputs
from carrylens.tasks.samplers import Sampler
from carrylens.tasks.task import Task

IDLE = -1
"""Stands where a node has no target."""
OFFSETS = (1, 3)
"""How many rows further down the two rows are that targets and nodes take values from."""

Bools = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class AlignmentTask:
    """What is aligned with what: a model, the algorithm, and the population that questions come from."""

    model: Transformer
    task: Task
    causal: CausalModel
    population: Sampler

    @cached_property
    def nodes(self) -> tuple[Node, ...]:
        """Every node whose write some output can depend on."""
        config = self.model.config
        last, reads = config.n_layers - 1, config.reads
        every = all_nodes(reads.stop, config.n_layers, config.n_heads, config.has_mlp)
        return tuple(node for node in every if node.layer < last or node.position >= reads.start)


@dataclass(frozen=True, eq=False)
class NodePlacement:
    """For every node the target that it holds, as its place among `targets`, or IDLE.

    `draws` says, for each target, which of the drawn interventions are its own: merging leaves some unused.
    """

    targets: tuple[AlignmentTarget, ...]
    held: Mapping[Node, int]
    draws: tuple[int, ...]

    @property
    def placed(self) -> Bools:
        """Which targets have a node."""
        some = set(self.held.values())
        return np.array([at in some for at in range(len(self.targets))])

    def moved(self, nodes: Sequence[Node], target: int) -> NodePlacement:
        """The same, but that these nodes hold another target."""
        return NodePlacement(self.targets, {**self.held, **dict.fromkeys(nodes, target)}, self.draws)

    def alignment(self, algorithm: str) -> Alignment:
        """The sites, for targets that have nodes."""
        sites = [
            AlignedSite(
                target.variables, (tuple(sorted(n for n, held in self.held.items() if held == at)),), target.outputs
            )
            for at, target in enumerate(self.targets)
            if at in set(self.held.values())
        ]
        return Alignment(algorithm, tuple(sites))


@dataclass(frozen=True)
class JointDraw:
    """How much is moved at once: `least` to `most` targets of a row, `among` those named; idle nodes in some rows."""

    least: int = 0
    most: int = 4
    idle: float = 0.5
    among: tuple[int, ...] | None = None


@dataclass(frozen=True, eq=False)
class Trial:
    """Questions with interventions: `chosen` has the slot of each row and drawn target, or OWN."""

    about: AlignmentTask
    questions: Batch
    tokens: torch.Tensor
    writes: PassWrites
    values: Values
    chosen: NDArray[np.int8]
    resampled: Bools
    idle_slots: NDArray[np.int8]
    _predicted: dict[bytes, NDArray[np.int64]] = field(default_factory=dict)

    @classmethod
    def drawn(cls, about: AlignmentTask, n_targets: int, draw: JointDraw, seed: int, count: int) -> Trial:
        """So many rows, by a seed."""
        rng = np.random.default_rng((seed, count, 0xA119))
        questions = about.population.draw(seed, 0, count)
        tokens = torch.from_numpy(about.task.token_ids(questions, about.task.right_outputs(questions)))
        with torch.inference_mode():
            _, writes = clean_pass(about.model, tokens)
        among = np.isin(np.arange(n_targets), range(n_targets) if draw.among is None else draw.among)
        least, most = (min(each, int(among.sum())) for each in (draw.least, draw.most))
        wanted = rng.integers(least, most + 1, size=count)
        rank = np.argsort(np.argsort(rng.random((count, n_targets)) + ~among, axis=1), axis=1)
        slots = rng.integers(0, len(OFFSETS), size=(count, n_targets))
        chosen = np.where(rank < wanted[:, None], slots, OWN).astype(np.int8)
        resampled = rng.random(count) < draw.idle
        idle = rng.integers(0, len(OFFSETS), size=(count, len(about.nodes))).astype(np.int8)
        return cls(about, questions, tokens, writes, about.causal.run(questions), chosen, resampled, idle)

    def chosen_by(self, placement: NodePlacement) -> NDArray[np.int8]:
        """Which targets of the placement each row moves: those that have a node."""
        return np.where(placement.placed, self.chosen[:, list(placement.draws)], np.int8(OWN))

    def predicted(self, targets: Sequence[AlignmentTarget], chosen: NDArray[np.int8]) -> NDArray[np.int64]:
        """The token ids that the algorithm puts out when each row moves what it chose."""
        key = repr(targets).encode() + chosen.tobytes()
        if key not in self._predicted:
            taken = [
                Taken(variable, np.roll(self.values[variable], -offset), chosen[:, at] == slot, target.outputs)
                for at, target in enumerate(targets)
                for variable in target.variables
                for slot, offset in enumerate(OFFSETS)
            ]
            outputs = interchanged_outputs(self.about.causal, self.questions, taken)
            self._predicted[key] = self.about.task.output_ids(self.questions, outputs).astype(np.int64)
        return self._predicted[key]

    @cached_property
    def own(self) -> NDArray[np.int64]:
        """The token ids that the algorithm puts out untouched."""
        return self.about.task.output_ids(self.questions, self.values.outputs()).astype(np.int64)

    def put_out(self, placement: NodePlacement) -> NDArray[np.int64]:
        """The token ids that the model puts out when the nodes of what each row chose take other rows' writes."""
        config, chosen = self.about.model.config, self.chosen_by(placement)
        shape = (len(self.questions), config.n_ctx, config.n_layers, config.n_heads + 1)
        slots = np.full(shape, OWN, dtype=np.int8)
        for at, node in enumerate(self.about.nodes):
            place = (slice(None), node.position, node.layer, -1 if node.head is None else node.head)
            held = placement.held[node]
            slots[place] = np.where(self.resampled, self.idle_slots[:, at], OWN) if held == IDLE else chosen[:, held]
        with torch.inference_mode():
            sources = Sources(self.writes, torch.from_numpy(slots), OFFSETS)
            logits = interchange_pass(self.about.model, self.tokens, sources)
        layout = self.about.task.layout
        read = [at - layout.reads.start for at in layout.read_positions]
        return logits[:, read].argmax(-1).numpy()

    def followed(self, placement: NodePlacement) -> Bools:
        """Which outputs of each row are what the algorithm predicts: [row, output]."""
        predicted = self.predicted(placement.targets, self.chosen_by(placement))
        return np.asarray(self.put_out(placement) == predicted)
