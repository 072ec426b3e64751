"""Trials: random interventions on several targets at once, and how often the algorithm says what the model then does.

Takes  a model, its task, a causal model, targets, questions.
Gives  for any placement of targets in nodes which outputs come out as predicted, and which should have changed.
Never  chooses a placement.

Each row of a trial moves some targets to the values they have in other rows. In some rows everything that belongs to no
target takes its write from another row, too, and what brings a switch takes it from a row of the same switch.
Interventions are drawn once, so that placements are compared on the same. A target that is made from the same inputs as
one that moves, and that keeps its value, is held where it stands: nodes that bring a whole column then move just the
one. What is held is what its nodes write for the question untouched, read with the same outputs. The model is given the
outputs that the algorithm predicts under the intervention: it puts out all of them if and
only if it would write just these, reading what it wrote itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from carrylens.discovery.alignment.alignment_task import AlignmentTask
from carrylens.discovery.alignment.placement import NodePlacement
from carrylens.model.interchange_pass import OWN, PassWrites, clean_pass, replacing_pass
from carrylens.nodes import Node
from carrylens.tasks.batches import Batch, Column
from carrylens.tasks.causal import CausalModel, Values
from carrylens.tasks.interchanged import Taken, interchanged_values
from carrylens.tasks.variables import Variable

OFFSETS = (1, 3)
"""How many rows further down the two rows are that targets and nodes take values from."""
HOLD = len(OFFSETS)
"""The slot of a target that is held: its nodes write what they write if no node is replaced."""
_FAR = (HOLD + 1, HOLD + 2)  # the slots of what belongs to no target: rows of anywhere
_KEEP = HOLD + 3  # the slot of a target that is held and that no output steers: what its nodes write for the row itself
_DRAWN = 4  # questions for a row that counts


def source_offsets(n_questions: int) -> tuple[int, ...]:
    """For every slot, how many rows further down the row is that it stands for."""
    return (*OFFSETS, 0, n_questions // 2, n_questions // 2 + 5, 0)


Bools = NDArray[np.bool_]
Slots = NDArray[np.int8]
TokenTable = NDArray[np.int64]


@dataclass(frozen=True)
class JointDraw:
    """How much is moved at once: `least` to `most` targets of a row, `among` those named; the rest in some rows.

    Beside these rows there are `alone` for each target of `by_itself`, in which it alone moves, and half as many in
    which it takes the value that it has.
    """

    least: int = 0
    most: int = 4
    idle: float = 0.4
    among: tuple[int, ...] | None = None
    alone: int = 0
    by_itself: tuple[int, ...] = ()


@dataclass(frozen=True, eq=False)
class Trial:
    """Questions with interventions: `chosen` has the slot of each row and target, or OWN.

    `rows` are those that count: where the algorithm says that an output changes, and some where nothing is moved.
    `alone` are those drawn for one target by itself.
    """

    about: AlignmentTask
    questions: Batch
    writes: PassWrites
    values: Values
    chosen: Slots
    resampled: Bools
    idle_slots: Mapping[Node, Slots]
    alone: Bools
    rows: NDArray[np.intp]

    @classmethod
    def drawn(cls, about: AlignmentTask, draw: JointDraw, seed: int, count: int) -> Trial:
        """So many rows, by a seed."""
        rng = np.random.default_rng((seed, count, 0xA119))
        n_joint, n_alone = count if draw.most == 0 else _DRAWN * count, _DRAWN * draw.alone * len(draw.by_itself)
        n_drawn = n_joint + n_alone
        questions = about.population.draw(seed, 0, n_drawn)
        questions, inside = _by_switch(about.causal, questions)
        values = about.causal.run(questions)
        n_targets = len(about.targets)
        required = [at for at, target in enumerate(about.targets) if not target.optional]
        among = np.isin(np.arange(n_targets), required if draw.among is None else draw.among)
        least, most = (min(each, int(among.sum())) for each in (draw.least, draw.most))
        wanted = rng.integers(least, most + 1, size=n_drawn)
        rank = np.argsort(np.argsort(rng.random((n_drawn, n_targets)) + ~among, axis=1), axis=1)
        slots = rng.integers(0, len(OFFSETS), size=(n_drawn, n_targets))
        chosen = np.where(rank < wanted[:, None], slots, OWN).astype(np.int8)
        resampled = rng.random(n_drawn) < np.where(wanted > 0, draw.idle, min(1.0, 2 * draw.idle))
        alone = np.full(n_drawn, OWN)
        alone[rng.permutation(n_drawn)[:n_alone]] = np.repeat(np.array(draw.by_itself, dtype=int), _DRAWN * draw.alone)
        resampled &= alone == OWN
        chosen[alone != OWN] = OWN
        moved = np.flatnonzero(alone != OWN)
        chosen[moved, alone[moved]] = slots[moved, 0]
        idle = rng.integers(_FAR[0], _FAR[1] + 1, size=(len(about.nodes), n_drawn)).astype(np.int8)
        idle = np.where(resampled, idle, np.int8(OWN))
        slots_of = dict(zip(about.nodes, idle, strict=True))
        nothing = PassWrites((), ())
        trial = cls(
            about, questions, nothing, values, chosen, resampled, slots_of, alone != OWN, np.flatnonzero(inside)
        )
        trial = replace(trial, rows=trial._counting(count, alone, draw.alone))
        return replace(trial, writes=about.clean_writes(questions, values, trial._needed()))

    @classmethod
    def of(cls, about: AlignmentTask, questions: Batch, chosen: Slots, rows: NDArray[np.intp]) -> Trial:
        """Rows of these questions with just these interventions."""
        values = about.causal.run(questions)
        resampled = np.zeros(len(questions), dtype=np.bool_)
        idle = np.full(len(questions), OWN, dtype=np.int8)
        writes = about.clean_writes(questions, values)
        return cls(
            about, questions, writes, values, chosen, resampled, dict.fromkeys(about.nodes, idle), resampled, rows
        )

    @cached_property
    def held_writes(self) -> PassWrites:
        """What all nodes write in the rows that count if none is replaced, with the outputs of the prediction."""
        with torch.inference_mode():
            return clean_pass(self.about.model, self.prediction.tokens[torch.from_numpy(self.rows)])[1]

    def _with_switches(self, chosen: Slots, predicted: TokenTable) -> Slots:
        # In rows of which all else is resampled, so is what brings a switch, from a row in which that is the same:
        # nothing else may hide there. An output is the same if it is what is fed back.
        found = np.array(chosen)
        for at, target in enumerate(self.about.targets):
            if not target.optional:
                continue
            variable = target.variables[0]
            place = self.about.causal.outputs.index(variable) if variable in self.about.causal.outputs else None
            column = self.values[variable] if place is None else self.own[:, place]
            wanted = column if place is None else predicted[:, place]
            for slot, offset in enumerate(OFFSETS):
                found[self.resampled & (np.roll(column, -offset) == wanted), at] = slot
        return found

    def _with_holds(self, chosen: Slots, found: Mapping[Variable, Mapping[Variable, Column]]) -> Slots:
        held = np.array(chosen)
        put_out = {each: found[each][each] for each in self.about.causal.steering}
        untouched = self.about.causal.run(self.questions, put_out) if put_out else self.values
        for at, beside in self.about.siblings.items():
            target = self.about.targets[at]
            stays = (chosen[:, list(beside)] != OWN).any(1) & (chosen[:, at] == OWN)
            for output in target.outputs:
                for variable in target.variables:
                    # An output that is fed back as predicted would always seem to stay.
                    own = (self.values if variable in put_out else untouched)[variable]
                    stays &= found[output].get(variable, own) == own
            held[stays, at] = HOLD if self.about.is_steered(target) else _KEEP
        return held

    def _needed(self) -> Bools:
        # Which rows' writes any row that counts may take.
        needed = np.arange(len(self.questions)) == 0  # one at least, for its shape
        chosen, resampled = self.prediction.chosen[self.rows], self.resampled[self.rows]
        for slot, offset in enumerate(source_offsets(len(needed))):
            some = resampled if slot in _FAR else (chosen == slot).any(1)
            needed[(self.rows[some] + offset) % len(needed)] = True
        return needed

    def _counting(self, count: int, alone: NDArray[np.int64], n_alone: int) -> NDArray[np.intp]:
        able = np.isin(np.arange(len(self.questions)), self.rows)
        changed = (self.prediction.predicted != self.own).any(1)
        apart = [np.flatnonzero(able & (alone == at) & changed)[:n_alone] for at in np.unique(alone) if at != OWN]
        apart += [
            np.flatnonzero(able & (alone == at) & ~changed)[: n_alone // 2] for at in np.unique(alone) if at != OWN
        ]
        able &= alone == OWN
        changes = changed & able
        required = [at for at, target in enumerate(self.about.targets) if not target.optional]
        still = (self.chosen[:, required] == OWN).all(1) & ~changes & able
        n_still = min(int(still.sum()), max(count // 4, count - int(changes.sum())))
        n_moved = min(int(changes.sum()), count - n_still)
        rng = np.random.default_rng((count, n_still))
        moved, kept = (
            rng.choice(np.flatnonzero(flags), n, replace=False) for flags, n in ((changes, n_moved), (still, n_still))
        )
        return np.sort(np.concatenate([moved, kept, *apart]))

    @cached_property
    def weights(self) -> NDArray[np.float64]:
        """How much each row that counts does: those for targets by themselves as much as all the others."""
        alone = self.alone[self.rows]
        n_alone = int(alone.sum())
        if n_alone in (0, len(alone)):
            return np.full(len(alone), 1 / max(1, len(alone)))
        return np.where(alone, 0.5 / max(1, n_alone), 0.5 / (len(alone) - n_alone))

    @cached_property
    def own(self) -> TokenTable:
        """The token ids that the algorithm puts out untouched: [row, output]."""
        return self.about.task.output_ids(self.questions, self.values.outputs()).astype(np.int64)

    @cached_property
    def prediction(self) -> Prediction:
        """What each row moves and holds, and what the algorithm then puts out.

        A switch takes its write from a row of the same switch, so no output depends on whether it has a site.
        """
        taken = [
            Taken(variable, np.roll(self.values[variable], -offset), self.chosen[:, at] == slot, target.outputs)
            for at, target in enumerate(self.about.targets)
            for variable in target.variables
            for slot, offset in enumerate(OFFSETS)
        ]
        found = interchanged_values(self.about.causal, self.questions, taken, fed_back=True)
        outputs = np.stack([found[each][each] for each in self.about.causal.outputs], axis=1)
        task = self.about.task
        predicted = task.output_ids(self.questions, outputs).astype(np.int64)
        return Prediction(
            self._with_switches(self._with_holds(self.chosen, found), predicted),
            predicted,
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
        prediction = self.prediction
        sources = _NodeSources(self, placement, prediction.chosen, rows)
        logits = replacing_pass(self.about.model, prediction.tokens[torch.from_numpy(rows)], sources)
        layout = self.about.task.layout
        return logits[:, [at - layout.reads.start for at in layout.read_positions]]

    def followed(self, placement: NodePlacement, rows: NDArray[np.intp] | None = None) -> Bools:
        """Which outputs of each row are what the algorithm predicts: [row, output]. A target without a node moves
        nothing, so what should follow it does not."""
        rows = self.rows if rows is None else rows
        return np.asarray(self.put_out(placement, rows) == self.prediction.predicted[rows])

    @cached_property
    def _moves(self) -> Bools:
        """Of the rows that count in which each target moves or is held: [row, target]."""
        return np.asarray(self.prediction.chosen[self.rows] != OWN)

    def differs(self, one: NodePlacement, other: NodePlacement, nodes: Iterable[Node] | None = None) -> Bools:
        """Of the rows that count those in which two placements, apart in `nodes`, replace something different."""
        found = np.zeros(len(self.rows), dtype=np.bool_)
        for node in one.held if nodes is None else nodes:
            before, after = one.held[node], other.held[node]
            if before == after:
                continue
            shared = max(len(before), len(after)) > 1
            changed = set(before) | set(after) if shared else set(before) ^ set(after)
            found |= self._moves[:, sorted(changed)].any(1)
            if len(before) != 1 or len(after) != 1:
                found |= self.resampled[self.rows]
        return found


@dataclass(frozen=True, eq=False)
class Prediction:
    """What each row moves and holds, the outputs that the algorithm then puts out, and the tokens for the model."""

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
        sources = self._sources(kept, layer, is_mlp=is_mlp)
        slots = np.full(own.shape[:-1], OWN, dtype=np.int8)
        shared = list[tuple[tuple[int, ...], Node]]()
        for at in range(own.shape[1]):
            for head in (None,) if is_mlp else range(own.shape[2]):
                node = Node(first + at, layer, head)
                place: tuple[int, ...] = (at,) if head is None else (at, head)
                held = self.placement.held[node]
                if len(held) > 1:
                    shared.append((place, node))
                else:
                    whole: tuple[slice | int, ...] = (slice(None), *place)
                    slots[whole] = self._slots(node, held[0] if held else None)
        found = _taken(own, sources, torch.from_numpy(slots))
        for place, node in shared:
            at_place: tuple[slice | int, ...] = (slice(None), *place)
            found[at_place] = self._in_subspaces(node, own[at_place], [each[at_place] for each in sources])
        return found

    def _slots(self, node: Node, target: int | None) -> Slots:
        slots = self.trial.idle_slots[node] if target is None else self.chosen[:, target]
        return np.asarray(slots[self.rows])

    def _sources(self, kept: Tensor, layer: int, *, is_mlp: bool) -> list[Tensor]:
        n_rows = len(self.trial.questions)
        found = [kept[torch.from_numpy((self.rows + offset) % n_rows)] for offset in source_offsets(n_rows)]
        if (self.chosen[self.rows] == HOLD).any():
            held = self.trial.held_writes
            writes = held.mlps[layer] if is_mlp else held.heads[layer]
            assert writes is not None
            found[HOLD] = writes[torch.from_numpy(np.searchsorted(self.trial.rows, self.rows))]
        return found

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
