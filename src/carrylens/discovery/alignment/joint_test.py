"""The joint test: on held-out questions, does the algorithm say what joint interventions at the sites do?

Takes  what is aligned, a placement, questions that the placement was not chosen with.
Gives  `JointRates`: interchange accuracy in all, by family and by output, and how many answers stand when all other
       nodes are resampled; the same of a placement that is wrong on purpose.
Never  counts a row twice, or an intervention that should change nothing as a success of interchange.

1. Interchange: several targets move at once; a row counts if an output should change, and is right if all outputs that
   should change are the predicted ones and all others stay.
2. By family: one target of the family moves, and others beside it. A row counts if that target makes a difference to
   what is predicted, and is right if the outputs that it makes a difference to are the predicted ones.
3. Scrubbed: every node without a target takes its write from another question; a row is right if the answer stands.
4. Null: every target's site is given to the next target of its family.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from carrylens.discovery.alignment.joint_rates import JointRates
from carrylens.discovery.alignment.trial import IDLE, AlignmentTask, Bools, JointDraw, NodePlacement, Trial
from carrylens.evidence.rates import Rate
from carrylens.model.interchange_pass import OWN

_SEVERAL = 4
_PIECE = 512


@dataclass(frozen=True)
class JointSettings:
    """How many rows each rate is of, and the seed of the questions."""

    n_rows: int = 2048
    seed: int = 0


def measure_jointly(
    about: AlignmentTask, placement: NodePlacement, settings: JointSettings | None = None
) -> JointRates:
    """All rates of one placement."""
    settings = settings or JointSettings()
    asking = _Asking(about, settings)
    several = JointDraw(_SEVERAL, _SEVERAL, 0.0, _inner(about, placement))
    moved = asking.rows(placement, several, 1)
    shifted = asking.rows(_shifted(placement), several, 1)
    return JointRates(
        interchange=_rate(_every(moved.right), _some(moved.changes)),
        scrubbed=_whole(asking.rows(placement, JointDraw(0, 0, 1.0), 2)),
        both=_whole(asking.rows(placement, replace(several, idle=1.0), 3)),
        answers=_whole(asking.rows(placement, JointDraw(0, 0, 0.0), 2)),
        families={family: asking.family(placement, family, 5 + at) for at, family in enumerate(_families(placement))},
        outputs={
            str(output): _rate(moved.right[:, at], moved.changes[:, at])
            for at, output in enumerate(about.causal.outputs)
            if moved.changes[:, at].any()
        },
        null=_rate(_every(shifted.right), _some(shifted.changes)),
    )


@dataclass(frozen=True, eq=False)
class _Rows:
    """For each row and output: was it as predicted, and should it have changed?"""

    right: Bools
    changes: Bools


@dataclass(frozen=True, eq=False)
class _Asking:
    """Held-out questions of one model."""

    about: AlignmentTask
    settings: JointSettings

    def trials(self, placement: NodePlacement, draw: JointDraw, stage: int) -> list[Trial]:
        """Trials of so many rows, a piece at a time."""
        n_targets, seed = max(placement.draws, default=0) + 1, 104_729 * (self.settings.seed + 1) + 1000 * stage
        starts = range(0, self.settings.n_rows, _PIECE)
        return [
            Trial.drawn(self.about, n_targets, draw, seed + at, min(_PIECE, self.settings.n_rows - start))
            for at, start in enumerate(starts)
        ]

    def rows(self, placement: NodePlacement, draw: JointDraw, stage: int) -> _Rows:
        """What came out, and what should have changed."""
        right, changes = [], []
        for trial in self.trials(placement, draw, stage):
            predicted = trial.predicted(placement.targets, trial.chosen_by(placement))
            right.append(trial.put_out(placement) == predicted)
            changes.append(predicted != trial.own)
        return _Rows(np.concatenate(right), np.concatenate(changes))

    def family(self, placement: NodePlacement, family: str, stage: int) -> Rate:
        """Rows in which one target of the family makes a difference."""
        members = [at for at, target in enumerate(placement.targets) if target.family == family]
        hits = counted = 0
        for trial in self.trials(placement, JointDraw(0, _SEVERAL - 1, 0.0), stage):
            rng = np.random.default_rng((self.settings.seed, stage))
            which = rng.choice(members, size=len(trial.questions))
            slot = rng.integers(0, 2, size=len(trial.questions)).astype(np.int8)
            with_it, without = (_set(trial, placement, which, some) for some in (slot, np.full_like(slot, OWN)))
            predicted, otherwise = (
                each.predicted(placement.targets, _wanted(each, placement)) for each in (with_it, without)
            )
            matters = predicted != otherwise
            given = with_it.put_out(placement)
            counted += int(matters.any(1).sum())
            hits += int(((given == predicted) | ~matters).all(1)[matters.any(1)].sum())
        return Rate(hits, counted)


def _set(trial: Trial, placement: NodePlacement, which: NDArray[np.intp], slot: NDArray[np.int8]) -> Trial:
    # The same trial, but that one target of each row has this slot.
    chosen = np.array(trial.chosen)
    chosen[np.arange(len(chosen)), np.array(placement.draws)[which]] = slot
    return replace(trial, chosen=chosen)


def _wanted(trial: Trial, placement: NodePlacement) -> NDArray[np.int8]:
    # What a row is to move, whether or not the target has a node: one without any must count as missed.
    return trial.chosen[:, list(placement.draws)]


def _families(placement: NodePlacement) -> list[str]:
    return list(dict.fromkeys(target.family for target in placement.targets))


def _inner(about: AlignmentTask, placement: NodePlacement) -> tuple[int, ...]:
    # The draws of targets that are no outputs: who writes an output is easy to find.
    return tuple(
        draw
        for target, draw in zip(placement.targets, placement.draws, strict=True)
        if target.variables[0] not in about.causal.outputs
    )


def _shifted(placement: NodePlacement) -> NodePlacement:
    # Every site is given to the next target of its family.
    following = dict[int, int]()
    for family in _families(placement):
        members = [at for at, target in enumerate(placement.targets) if target.family == family]
        following |= dict(zip(members, [*members[1:], *members[:1]], strict=True))
    held = {node: IDLE if at == IDLE else following[at] for node, at in placement.held.items()}
    return replace(placement, held=held)


def _whole(rows: _Rows) -> Rate:
    return Rate(int(rows.right.all(1).sum()), len(rows.right))


def _rate(right: Bools, counted: Bools) -> Rate:
    return Rate(int((right & counted).sum()), int(counted.sum()))


def _every(flags: Bools) -> Bools:
    return np.asarray(flags.all(axis=1))


def _some(flags: Bools) -> Bools:
    return np.asarray(flags.any(axis=1))
