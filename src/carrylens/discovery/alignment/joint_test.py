"""The joint test: on held-out questions, does the algorithm say what interventions at the sites do?

Takes  what is aligned, a placement, questions that the placement was not chosen with.
Gives  `JointRates`: interchange accuracy in all, by output and by class, answers that stand when all else is resampled,
       a rate and a matched null for every target by itself, and the same for sites given to the wrong targets.
Never  counts an intervention that should change nothing as a success of interchange.

1. Interchange: four targets that are no outputs move at once; a row counts if an output should change, and is right if
   every output is the predicted one.
2. Scrubbed: all that belongs to no target takes its write from another question; right if the answer stands. Both: 1
   and 2 at once.
3. Carriers: one target that is no output moves alone. Its null takes the write of a question with other inputs and the
   same value of the target, so nothing should change.
4. Permuted: every target's site is given to another target of its family, in several ways.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from carrylens.discovery.alignment.alignment_task import AlignmentTask, inner_targets
from carrylens.discovery.alignment.deviations import find_deviation
from carrylens.discovery.alignment.joint_rates import CarrierRate, DeviationRecord, JointRates
from carrylens.discovery.alignment.placement import NodePlacement
from carrylens.discovery.alignment.trial import Bools, JointDraw, Trial
from carrylens.evidence.rates import Rate
from carrylens.model.interchange_pass import OWN
from carrylens.progress import Progress, silent

SEVERAL = 4
"""How many targets move at once."""
_PIECE = 512
_PERMUTED = 3
_LEAST_OF_CLASS = 30


@dataclass(frozen=True)
class JointSettings:
    """How many rows each rate is of, how many for each target by itself, and the seed of the questions."""

    n_rows: int = 2048
    n_each: int = 96
    seed: int = 0


def measure_jointly(
    about: AlignmentTask,
    placement: NodePlacement,
    settings: JointSettings | None = None,
    watch: Progress = silent,
    *,
    carriers: bool = True,
) -> JointRates:
    """All rates of one placement; without `carriers` those of the targets by themselves are left out."""
    settings = settings or JointSettings()
    held_out = _HeldOut(about, settings)
    inner = inner_targets(about)
    several = JointDraw(SEVERAL, SEVERAL, 0.0, inner)
    moved, both = held_out.rows(placement, several, 1), held_out.rows(placement, replace(several, idle=1.0), 3)
    scrubbed, plain = (held_out.rows(placement, JointDraw(0, 0, idle), 2) for idle in (1.0, 0.0))
    permuted = [held_out.rows(each, several, 1, settings.n_rows // 4) for each in _permuted(about, placement)]
    single = list[CarrierRate]()
    for place, at in enumerate(inner if carriers else ()):
        watch("testing each variable by itself", place, len(inner))
        single.append(held_out.carrier(placement, at))
    return JointRates(
        interchange=_rate(_every(moved.right), _any(moved.changes)),
        changed=_rate(moved.right, moved.changes),
        kept=_rate(moved.right, ~moved.changes),
        scrubbed=_whole(scrubbed),
        both=_whole(both),
        answers=_whole(plain),
        outputs={
            str(output): _rate(moved.right[:, at], moved.changes[:, at])
            for at, output in enumerate(about.causal.outputs)
            if moved.changes[:, at].any()
        },
        classes=_by_class(about, moved),
        permuted=max((_rate(_every(each.right), _any(each.changes)) for each in permuted), key=lambda r: r.value),
        carriers=tuple(single),
        deviation=_deviation(about, moved),
    )


@dataclass(frozen=True, eq=False)
class _Rows:
    """For each row and output: was it as predicted, and should it have changed? The questions, too."""

    right: Bools
    changes: Bools
    trials: tuple[Trial, ...]


@dataclass(frozen=True, eq=False)
class _HeldOut:
    """Held-out questions of one model."""

    about: AlignmentTask
    settings: JointSettings

    def rows(self, placement: NodePlacement, draw: JointDraw, stage: int, n_rows: int | None = None) -> _Rows:
        """What came out, and what should have changed, a piece at a time."""
        seed, wanted = 104_729 * (self.settings.seed + 1) + 1000 * stage, n_rows or self.settings.n_rows
        trials = tuple(
            Trial.drawn(self.about, draw, seed + at, min(_PIECE, wanted - start))
            for at, start in enumerate(range(0, wanted, _PIECE))
        )
        return _measured(trials, placement)

    def carrier(self, placement: NodePlacement, at: int) -> CarrierRate:
        """How one target does by itself, and its null."""
        seed, target = 104_729 * (self.settings.seed + 1) + 10_000 + 100 * at, self.about.targets[at]
        drawn = Trial.drawn(self.about, JointDraw(1, 1, 0.0, (at,)), seed, self.settings.n_each)
        effect = _measured((drawn,), placement)
        null = _matched(self.about, at, seed + 50, self.settings.n_each)
        changed = null.put_out(placement) != null.own[null.rows]
        return CarrierRate(
            str(target),
            target.family,
            tuple(map(str, placement.nodes(at))),
            _rate(_every(effect.right), _any(effect.changes)),
            Rate(int(changed.any(1).sum()), len(changed)),
        )


def _measured(trials: tuple[Trial, ...], placement: NodePlacement) -> _Rows:
    right = np.concatenate([trial.followed(placement) for trial in trials])
    changes = np.concatenate([(trial.prediction.predicted != trial.own)[trial.rows] for trial in trials])
    return _Rows(right, changes, trials)


def _matched(about: AlignmentTask, at: int, seed: int, count: int) -> Trial:
    # Questions in pairs of one value of the target: the first takes its nodes' writes from the second.
    questions = about.population.draw(seed, 0, 6 * count)
    values, target = about.causal.run(questions), about.targets[at]
    key = np.zeros(len(questions), dtype=np.int64)
    for variable in target.variables:
        key = key * 16 + values[variable]
    for switch in (each for each in about.causal.inputs if each.index is None):
        key = key * 16 + questions.column(switch)
    order = np.argsort(key, kind="stable")
    first = [place for place in range(0, len(order) - 1, 2) if key[order[place]] == key[order[place + 1]]]
    if len(first) > count:
        first = sorted(np.random.default_rng((seed, 7)).choice(first, count, replace=False).tolist())
    paired = np.concatenate([order[[place, place + 1]] for place in first])
    chosen = np.full((len(paired), len(about.targets)), OWN, dtype=np.int8)
    chosen[::2, at] = 0  # the row that is one further down
    return Trial.of(about, questions[paired], chosen, np.arange(0, len(paired), 2))


def _permuted(about: AlignmentTask, placement: NodePlacement) -> Iterator[NodePlacement]:
    # Sites that are given to other targets of their family, which know as much and are read as much.
    rng = np.random.default_rng(5)
    families: Mapping[str, list[int]] = {target.family: [] for target in about.targets}
    for at, target in enumerate(about.targets):
        families[target.family].append(at)
    for _ in range(_PERMUTED):
        other = dict[int, int]()
        for members in families.values():
            shift = int(rng.integers(1, len(members))) if len(members) > 1 else 0
            other |= {each: members[(place + shift) % len(members)] for place, each in enumerate(members)}
        held = {node: tuple(sorted(other[each] for each in some)) for node, some in placement.held.items()}
        yield NodePlacement(
            {n: some if len(some) < 2 or about.finder.of(n, some) is not None else some[:1] for n, some in held.items()}
        )


def _by_class(about: AlignmentTask, rows: _Rows) -> dict[str, Rate]:
    if about.task.strata is None:
        return {}
    strata = [about.task.classes(trial.questions[trial.rows]) for trial in rows.trials]
    names, codes = strata[0].names, np.concatenate([each.code for each in strata])
    counted, right = _any(rows.changes), _every(rows.right)
    found = {name: _rate(right, counted & (codes == at)) for at, name in enumerate(names)}
    return {name: rate for name, rate in found.items() if rate.n >= _LEAST_OF_CLASS}


def _deviation(about: AlignmentTask, rows: _Rows) -> DeviationRecord | None:
    # On which questions it fails, in one predicate, of those rows that should change.
    counted = _any(rows.changes)
    failed = ~_every(rows.right)[counted]
    values = np.concatenate([trial.questions[trial.rows].values for trial in rows.trials])[counted]
    found = find_deviation(about.task, rows.trials[0].questions.with_values(np.asfortranarray(values)), failed)
    return None if found is None else DeviationRecord(found.where, found.share, found.inside, found.outside)


def _whole(rows: _Rows) -> Rate:
    return Rate(int(rows.right.all(1).sum()), len(rows.right))


def _rate(right: NDArray[np.bool_], counted: NDArray[np.bool_]) -> Rate:
    return Rate(int((right & counted).sum()), int(counted.sum()))


def _every(flags: Bools) -> Bools:
    return np.asarray(flags.all(axis=1))


def _any(flags: Bools) -> Bools:
    return np.asarray(flags.any(axis=1))
