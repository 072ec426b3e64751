"""Trials: random interventions on several targets at once, and how often the algorithm says what the model then does.

Takes  a model, its task, a causal model, targets, questions.
Gives  for any placement of targets in nodes which outputs come out as predicted, and which should have changed.
Never  chooses a placement.

Each row of a trial moves some targets to the values they have in other rows, and in some rows everything that belongs
to no target takes its write from another row, too, and what brings a switch takes it from a row of the same switch. Interventions are drawn once, so that placements are compared on the
same. A target that is made from the same inputs as one that moves, and that keeps its value, is held where it stands: nodes
that bring a whole column then move just the one. The model is given the outputs that the algorithm predicts under the intervention: it puts out all of them if and
only if it would write just these, reading what it wrote itself.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from carrylens.alignment import AlignedSite, Alignment
from carrylens.discovery.alignment.subspaces import NodeSubspaces, SubspaceFinder
from carrylens.discovery.alignment.targets import AlignmentTarget
from carrylens.model.interchange_pass import OWN, PassWrites, clean_pass, replacing_pass
from carrylens.model.transformer import Transformer
from carrylens.nodes import Node, all_nodes
from carrylens.tasks.batches import Batch, Column
from carrylens.tasks.causal import CausalModel, Values
from carrylens.tasks.interchanged import Taken, interchanged_values
from carrylens.tasks.samplers import Sampler
from carrylens.tasks.task import Task
from carrylens.tasks.variables import Variable

OFFSETS = (1, 3)
"""How many rows further down the two rows are that targets and nodes take values from."""
HOLD = len(OFFSETS)
"""The slot of a target that is held: its nodes write what they write for the question untouched."""
_FAR = (HOLD + 1, HOLD + 2)  # the slots of what belongs to no target: rows of anywhere
_LOOKED_AT, _LOOK_SEED = 2048, 31
_DRAWN = 4  # questions for a row that counts

Bools = NDArray[np.bool_]
Slots = NDArray[np.int8]
TokenTable = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class AlignmentTask:
    """What is aligned with what: a model, the algorithm, its targets, and the population that questions come from."""

    model: Transformer
    task: Task
    causal: CausalModel
    targets: tuple[AlignmentTarget, ...]
    population: Sampler

    @cached_property
    def nodes(self) -> tuple[Node, ...]:
        """Every node whose write some output can depend on."""
        config = self.model.config
        last, reads = config.n_layers - 1, config.reads
        every = all_nodes(reads.stop, config.n_layers, config.n_heads, config.has_mlp)
        return tuple(node for node in every if node.layer < last or node.position >= reads.start)

    @cached_property
    def siblings(self) -> Mapping[int, tuple[int, ...]]:
        """For a target those others that are made from the same inputs as it is, or as something that it is made of.

        Outputs have none, nor has a target siblings that it is made of.
        """
        causal, found = self.causal, dict[int, tuple[int, ...]]()
        for at, target in enumerate(self.targets):
            if target.optional or set(target.variables) & set(causal.outputs):
                continue
            parts = {*target.variables, *(p for each in target.variables for p in causal.by_variable[each].parents)}
            inputs = {_direct(causal, part) for part in parts} - {frozenset()}
            found[at] = tuple(
                other
                for other, beside in enumerate(self.targets)
                if other != at and not beside.optional and not parts & set(beside.variables) and inputs & _inputs(causal, beside)
            )
        return {at: others for at, others in found.items() if others}

    @cached_property
    def finder(self) -> SubspaceFinder:
        """Directions of targets in nodes, from questions that no trial draws."""
        questions = self.population.draw(_LOOK_SEED, 0, _LOOKED_AT)
        values = self.causal.run(questions)
        writes = self.clean_writes(questions, values)
        rows = {node: self._write(writes, node) for node in self.nodes}
        return SubspaceFinder(rows, [_codes(target, values) for target in self.targets])

    def clean_writes(self, questions: Batch, values: Values) -> PassWrites:
        """What all nodes write for these questions, with the outputs that the algorithm gives."""
        tokens = torch.from_numpy(self.task.token_ids(questions, values.outputs()))
        with torch.inference_mode():
            return clean_pass(self.model, tokens)[1]

    def _write(self, writes: PassWrites, node: Node) -> NDArray[np.float64]:
        config = self.model.config
        at = node.position - (config.reads.start if node.layer == config.n_layers - 1 else 0)
        if node.head is not None:
            return writes.heads[node.layer][:, at, node.head].numpy().astype(np.float64)
        mlp = writes.mlps[node.layer]
        assert mlp is not None
        return mlp[:, at].numpy().astype(np.float64)


@dataclass(frozen=True, eq=False)
class NodePlacement:
    """For every node the targets that it holds, as their places among the targets; none, if it is idle.

    A node of one target is interchanged whole, a node of several in the subspace of each.
    """

    held: Mapping[Node, tuple[int, ...]]

    @property
    def placed(self) -> frozenset[int]:
        """The targets that have a node."""
        return frozenset(each for held in self.held.values() for each in held)

    @property
    def size(self) -> int:
        """How many targets all nodes together hold."""
        return sum(map(len, self.held.values()))

    @property
    def n_shared(self) -> int:
        """How many targets stand beside another in their node."""
        return sum(max(0, len(held) - 1) for held in self.held.values())

    def given(self, targets: Mapping[Node, tuple[int, ...]]) -> NodePlacement:
        """The same, but that these nodes hold these targets."""
        return NodePlacement({**self.held, **targets})

    def nodes(self, target: int) -> tuple[Node, ...]:
        """The nodes that hold a target."""
        return tuple(sorted(node for node, held in self.held.items() if target in held))

    def alignment(self, algorithm: str, targets: Sequence[AlignmentTarget]) -> Alignment:
        """The sites of targets that have nodes; nodes that hold several targets make one site of these."""
        sites, left = list[AlignedSite](), sorted(self.placed)
        while left:
            group, nodes = {left[0]}, set[Node]()
            while more := {n for at in group for n in self.nodes(at)} - nodes:
                nodes |= more
                group |= {at for node in more for at in self.held[node]}
            left = [at for at in left if at not in group]
            some = [targets[at] for at in sorted(group)]
            variables = tuple(dict.fromkeys(v for each in some for v in each.variables))
            outputs = tuple(dict.fromkeys(o for each in some for o in each.outputs))
            sites.append(AlignedSite(variables, (tuple(sorted(nodes)),), outputs))
        return Alignment(algorithm, tuple(sites))


@dataclass(frozen=True)
class JointDraw:
    """How much is moved at once: `least` to `most` targets of a row, `among` those named; the rest in some rows."""

    least: int = 0
    most: int = 4
    idle: float = 0.4
    among: tuple[int, ...] | None = None


@dataclass(frozen=True, eq=False)
class Trial:
    """Questions with interventions: `chosen` has the slot of each row and target, or OWN.

    `rows` are those that count: where the algorithm says that an output changes, and some where nothing is moved.
    """

    about: AlignmentTask
    questions: Batch
    writes: PassWrites
    values: Values
    chosen: Slots
    resampled: Bools
    idle_slots: Mapping[Node, Slots]
    rows: NDArray[np.intp]
    _predictions: dict[tuple[int, ...], _Prediction] = field(default_factory=dict)

    @classmethod
    def drawn(cls, about: AlignmentTask, draw: JointDraw, seed: int, count: int) -> Trial:
        """So many rows, by a seed."""
        rng = np.random.default_rng((seed, count, 0xA119))
        n_drawn = count if draw.most == 0 else _DRAWN * count
        questions = about.population.draw(seed, 0, n_drawn)
        questions, inside = _by_switch(about.causal, questions)
        values = about.causal.run(questions)
        n_targets = len(about.targets)
        among = np.isin(np.arange(n_targets), range(n_targets) if draw.among is None else draw.among)
        least, most = (min(each, int(among.sum())) for each in (draw.least, draw.most))
        wanted = rng.integers(least, most + 1, size=n_drawn)
        rank = np.argsort(np.argsort(rng.random((n_drawn, n_targets)) + ~among, axis=1), axis=1)
        slots = rng.integers(0, len(OFFSETS), size=(n_drawn, n_targets))
        chosen = np.where(rank < wanted[:, None], slots, OWN).astype(np.int8)
        resampled = rng.random(n_drawn) < np.where(wanted > 0, draw.idle, min(1.0, 2 * draw.idle))
        _resample_switches(about, values, resampled, chosen)
        idle = rng.integers(_FAR[0], _FAR[1] + 1, size=(len(about.nodes), n_drawn)).astype(np.int8)
        idle = np.where(resampled, idle, np.int8(OWN))
        slots_of = dict(zip(about.nodes, idle, strict=True))
        writes = about.clean_writes(questions, values)
        trial = cls(about, questions, writes, values, chosen, resampled, slots_of, np.flatnonzero(inside))
        return replace(trial, rows=trial._counting(count))

    @classmethod
    def of(cls, about: AlignmentTask, questions: Batch, chosen: Slots, rows: NDArray[np.intp]) -> Trial:
        """Rows of these questions with just these interventions."""
        values = about.causal.run(questions)
        resampled = np.zeros(len(questions), dtype=np.bool_)
        idle = np.full(len(questions), OWN, dtype=np.int8)
        writes = about.clean_writes(questions, values)
        return cls(about, questions, writes, values, chosen, resampled, dict.fromkeys(about.nodes, idle), rows)

    def _with_holds(self, chosen: Slots, found: Mapping[Variable, Mapping[Variable, Column]]) -> Slots:
        held = np.array(chosen)
        for at, beside in self.about.siblings.items():
            target = self.about.targets[at]
            stays = (chosen[:, list(beside)] != OWN).any(1) & (chosen[:, at] == OWN)
            for output in target.outputs:
                for variable in target.variables:
                    stays &= found[output].get(variable, self.values[variable]) == self.values[variable]
            held[stays, at] = HOLD
        return held

    def _counting(self, count: int) -> NDArray[np.intp]:
        able = np.isin(np.arange(len(self.questions)), self.rows)
        changes = (self._moved(()).predicted != self.own).any(1) & able
        required = [at for at, target in enumerate(self.about.targets) if not target.optional]
        still = (self.chosen[:, required] == OWN).all(1) & ~changes & able
        n_still = min(int(still.sum()), max(count // 4, count - int(changes.sum())))
        n_moved = min(int(changes.sum()), count - n_still)
        rng = np.random.default_rng((count, n_still))
        moved, kept = (
            rng.choice(np.flatnonzero(flags), n, replace=False) for flags, n in ((changes, n_moved), (still, n_still))
        )
        return np.sort(np.concatenate([moved, kept]))

    @cached_property
    def own(self) -> TokenTable:
        """The token ids that the algorithm puts out untouched: [row, output]."""
        return self.about.task.output_ids(self.questions, self.values.outputs()).astype(np.int64)

    def predicted(self, placement: NodePlacement) -> TokenTable:
        """The token ids that the algorithm puts out when each row moves what it does under the placement."""
        return self._of(placement).predicted

    def _of(self, placement: NodePlacement) -> _Prediction:
        placed = placement.placed
        left_out = [at for at, target in enumerate(self.about.targets) if target.optional and at not in placed]
        return self._moved(tuple(left_out))

    def _moved(self, left_out: tuple[int, ...]) -> _Prediction:
        if left_out not in self._predictions:
            self._predictions[left_out] = self._predict(left_out)
        return self._predictions[left_out]

    def _predict(self, left_out: tuple[int, ...]) -> _Prediction:
        chosen = np.array(self.chosen)
        chosen[:, list(left_out)] = OWN
        taken = [
            Taken(variable, np.roll(self.values[variable], -offset), chosen[:, at] == slot, target.outputs)
            for at, target in enumerate(self.about.targets)
            for variable in target.variables
            for slot, offset in enumerate(OFFSETS)
        ]
        found = interchanged_values(self.about.causal, self.questions, taken, fed_back=True)
        outputs = np.stack([found[each][each] for each in self.about.causal.outputs], axis=1)
        task = self.about.task
        return _Prediction(
            self._with_holds(chosen, found),
            task.output_ids(self.questions, outputs).astype(np.int64),
            torch.from_numpy(task.token_ids(self.questions, outputs)),
        )

    def put_out(self, placement: NodePlacement, rows: NDArray[np.intp] | None = None) -> TokenTable:
        """The token ids that the model puts out when the nodes of what each row chose take other rows' writes.

        `rows` are those that are computed, if not all that count.
        """
        rows = self.rows if rows is None else rows
        with torch.inference_mode():
            logits = self.logits(placement, rows)
        return logits.argmax(-1).numpy()

    def logits(self, placement: NodePlacement, rows: NDArray[np.intp]) -> Tensor:
        """The logits of every output in these rows: [row, output, vocab]."""
        prediction = self._of(placement)
        sources = _NodeSources(self, placement, prediction.chosen, rows)
        logits = replacing_pass(self.about.model, prediction.tokens[torch.from_numpy(rows)], sources)
        layout = self.about.task.layout
        return logits[:, [at - layout.reads.start for at in layout.read_positions]]

    def followed(self, placement: NodePlacement, rows: NDArray[np.intp] | None = None) -> Bools:
        """Which outputs of each row are what the algorithm predicts: [row, output]. A target without a node moves
        nothing, so what should follow it does not."""
        rows = self.rows if rows is None else rows
        return np.asarray(self.put_out(placement, rows) == self.predicted(placement)[rows])

    def differs(self, one: NodePlacement, other: NodePlacement) -> Bools:
        """Of the rows that count those in which two placements replace something different."""
        first, second = self._of(one).chosen, self._of(other).chosen
        found = (first != second).any(1)
        for node, held in one.held.items():
            if held == other.held[node]:
                continue
            for each in set(held) ^ set(other.held[node]):
                found |= second[:, each] != OWN
            if 1 < max(len(held), len(other.held[node])):
                for each in set(held) & set(other.held[node]):
                    found |= second[:, each] != OWN
            if len(held) != 1 or len(other.held[node]) != 1:
                found |= self.resampled
        return np.asarray(found[self.rows])


@dataclass(frozen=True, eq=False)
class _Prediction:
    """What each row moves and holds, the outputs that the algorithm then puts out, and all tokens that the model gets."""

    chosen: Slots
    predicted: TokenTable
    tokens: Tensor


@dataclass(frozen=True, eq=False)
class _NodeSources:
    """What every node writes instead of what it computes, in some rows of a trial, under a placement."""

    trial: Trial
    placement: NodePlacement
    chosen: Slots
    rows: NDArray[np.intp]

    def replaced(self, own: Tensor, layer: int, first: int, *, is_mlp: bool = False) -> Tensor:
        """What a layer's heads, or its MLP, write at the positions from `first` on."""
        kept = self.trial.writes.mlps[layer] if is_mlp else self.trial.writes.heads[layer]
        assert kept is not None
        sources = self._sources(kept)
        slots = np.full(own.shape[:-1], OWN, dtype=np.int8)
        shared = list[tuple[tuple[int, ...], Node]]()
        for at in range(own.shape[1]):
            for head in (None,) if is_mlp else range(own.shape[2]):
                node = Node(first + at, layer, head)
                place = (at,) if head is None else (at, head)
                held = self.placement.held[node]
                if len(held) > 1:
                    shared.append((place, node))
                else:
                    slots[(slice(None), *place)] = self._slots(node, held[0] if held else None)
        found = _taken(own, sources, torch.from_numpy(slots))
        for place, node in shared:
            at_place = (slice(None), *place)
            found[at_place] = self._in_subspaces(node, own[at_place], [each[at_place] for each in sources])
        return found

    def _slots(self, node: Node, target: int | None) -> Slots:
        slots = self.trial.idle_slots[node] if target is None else self.chosen[:, target]
        return np.asarray(slots[self.rows])

    def _sources(self, kept: Tensor) -> list[Tensor]:
        n_rows = len(self.trial.questions)
        return [kept[torch.from_numpy((self.rows + offset) % n_rows)] for offset in (*OFFSETS, 0, n_rows // 2, n_rows // 2 + 5)]

    def _in_subspaces(self, node: Node, own: Tensor, sources: list[Tensor]) -> Tensor:
        held = self.placement.held[node]
        subspaces = self.trial.about.finder.of(node, held)
        assert subspaces is not None
        found = own
        for target, matrix in (*zip(held, subspaces.maps, strict=True), (None, subspaces.rest)):
            slots = torch.from_numpy(self._slots(node, target))
            found = found + (_taken(own, sources, slots) - own) @ matrix.T
        return found


def _taken(own: Tensor, sources: Sequence[Tensor], slots: Tensor) -> Tensor:
    # `slots` has the first axes of a write: which of the sources each row takes its write from, or OWN.
    slots = slots[(...,) + (None,) * (own.dim() - slots.dim())]
    for slot, source in enumerate(sources):
        own = torch.where(slots == slot, source, own)
    return own


def _codes(target: AlignmentTarget, values: Values) -> NDArray[np.intp]:
    key = np.zeros(len(values[target.variables[0]]), dtype=np.int64)
    for variable in target.variables:
        key = key * 16 + values[variable]
    return np.unique(key, return_inverse=True)[1]


def _direct(causal: CausalModel, variable: Variable) -> frozenset[Variable]:
    # The inputs that a variable is made from directly; none, if it is made from anything else.
    mechanism = causal.by_variable.get(variable)
    parents = frozenset(() if mechanism is None else mechanism.parents)
    return parents if parents <= set(causal.inputs) else frozenset()


def _inputs(causal: CausalModel, target: AlignmentTarget) -> set[frozenset[Variable]]:
    return {_direct(causal, each) for each in target.variables} - {frozenset[Variable]()}


def _by_switch(causal: CausalModel, questions: Batch) -> tuple[Batch, Bools]:
    # Questions of one operator next to each other, so that targets take values from questions of their own; and which
    # rows have such questions after them. What a node holds may be another thing for another operator.
    fixed = {variable for variable, _ in causal.fixed}
    switches = [each for each in causal.inputs if each.index is None and each not in fixed]
    inside = np.ones(len(questions), dtype=np.bool_)
    if not switches:
        return questions, inside
    code = np.zeros(len(questions), dtype=np.int64)
    for switch in switches:
        code = code * 16 + questions.column(switch)
    order = np.argsort(code, kind="stable")
    for offset in OFFSETS:
        inside &= np.roll(code[order], -offset) == code[order]
    return questions[order], inside


def _resample_switches(about: AlignmentTask, values: Values, resampled: Bools, chosen: Slots) -> None:
    # In rows of which all else is resampled, so is what brings a switch, from a row in which that is the same: nothing
    # else may hide there.
    for at, target in enumerate(about.targets):
        if not target.optional:
            continue
        column = values[target.variables[0]]
        chosen[resampled, at] = OWN
        for slot, offset in enumerate(OFFSETS):
            chosen[resampled & (np.roll(column, -offset) == column), at] = slot
