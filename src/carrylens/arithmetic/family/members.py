"""Members: what was saved about each model of the family.

Takes  a model's name, the hash of its weights, and the folders that may hold something about it.
Gives  `Member`: its outcomes, its map, the claims and the verdict about it; a note for what is not used.
Never  takes what was made from other weights.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from carrylens.arithmetic.battery.battery_file import BATTERY, PlainRecord
from carrylens.arithmetic.battery.battery_folder import saved_battery, saved_map_of_weights
from carrylens.arithmetic.battery.fresh_outcomes import hash_of_map, is_current
from carrylens.arithmetic.battery.outcome import Outcome
from carrylens.arithmetic.battery.registry import EXPERIMENTS
from carrylens.arithmetic.hypotheses import usual_for
from carrylens.arithmetic.model_names import ModelName
from carrylens.arithmetic.task import arithmetic_task
from carrylens.claims.judgement import CLAIMS, judge
from carrylens.claims.records import read_claims
from carrylens.claims.run_verdict import RunJudgement, run_judgement
from carrylens.discovery.alignment.joint_rates import ALIGNMENT, MeasuredAlignment
from carrylens.discovery.node_map import MAP, NodeMap
from carrylens.steps import read_made


@dataclass(frozen=True, eq=False)
class Member:
    """One model. `outcomes` is by experiment, empty if the battery was not run; `meets_bar` is what its test says."""

    source: str
    name: ModelName
    meets_bar: bool | None
    outcomes: Mapping[str, Outcome]
    map: NodeMap | None = None
    claims: PlainRecord | None = None
    joint: RunJudgement | None = None
    notes: tuple[str, ...] = ()

    @property
    def evidence(self) -> str:
        """How much evidence its outcomes rest on: quick or full, and the pairs of questions behind a rate."""
        amounts = {(bool(each.settings.get("quick")), each.settings.get("n_pairs")) for each in self.outcomes.values()}
        said = [f"{'quick' if quick else 'full'}, {n} pairs" for quick, n in sorted(amounts, key=str)]
        return "; ".join(said) or "not run"

    @property
    def missing(self) -> list[str]:
        """The experiments that were not run on it."""
        return [each.name for each in EXPERIMENTS if each.name not in self.outcomes]

    @property
    def mapped(self) -> str:
        """How much evidence its map rests on."""
        settings = None if self.map is None else self.map.stimuli.get("settings")
        roles = settings.get("roles") if isinstance(settings, Mapping) else None
        if self.map is None:
            return "not mapped"
        return f"{roles['n_confirm']} pairs" if isinstance(roles, Mapping) else "mapped"


def read_member(
    source: str, name: ModelName, sha256: str, places: Sequence[Path], meets_bar: bool | None = None
) -> Member:
    """What is known of a model, each thing from the first of the places that has it, made from these weights."""
    outcomes: list[Outcome] = []
    notes = []
    for place in places:
        about, found = saved_battery(place)
        if found and about.get("sha256") != sha256:
            notes.append(f"{place / BATTERY} is of other weights, so it is not used")
        elif found:
            outcomes = found
            break
    mapped = next(((place, mine) for place in places if (mine := saved_map_of_weights(place, sha256))), None)
    notes += [f"{place / MAP} is of other weights, so it is not used" for place in _others(places, mapped, sha256)]
    outcomes, old = _as_now(outcomes)
    notes += [f"made by an earlier form of the experiment, so not used: {', '.join(old)}"] if old else []
    other = [] if mapped is None else made_with_another_map(outcomes, mapped[1])
    notes += [f"made with another map than the one here: {', '.join(other)}"] if other else []
    return Member(
        source=source,
        name=name,
        meets_bar=meets_bar,
        outcomes={outcome.card.name: outcome for outcome in outcomes},
        map=None if mapped is None else mapped[1],
        claims=None if mapped is None else _claims(*mapped),
        joint=_joint(name, sha256, places),
        notes=tuple(notes),
    )


def _others(places: Sequence[Path], mapped: tuple[Path, NodeMap] | None, sha256: str) -> list[Path]:
    # Places passed over on the way to the map that is used.
    passed = places if mapped is None else places[: places.index(mapped[0])]
    return [place for place in passed if (place / MAP).exists() and saved_map_of_weights(place, sha256) is None]


def _as_now(outcomes: Sequence[Outcome]) -> tuple[list[Outcome], list[str]]:
    # Those made by the experiment as it stands, and the names of the others: what those say is no longer what is asked.
    same = [outcome for outcome in outcomes if any(is_current(outcome, each) for each in EXPERIMENTS)]
    return same, [outcome.card.name for outcome in outcomes if outcome not in same]


def made_with_another_map(outcomes: Sequence[Outcome], found: NodeMap) -> list[str]:
    """The experiments that read a map, and whose outcomes were made with another one than this."""
    now, reading = hash_of_map(found), {each.name for each in EXPERIMENTS if each.reads_map}
    read = [outcome for outcome in outcomes if outcome.card.name in reading]
    return [outcome.card.name for outcome in read if outcome.settings.get("map") != now]


def _claims(place: Path, found: NodeMap) -> PlainRecord:
    # As they were judged beside the map; where that was not done, or by another hypothesis, judged now from the map
    # alone, without rivals.
    usual, content = usual_for(found.task), read_made(place, CLAIMS, f"carrylens judge {place}")
    claims = None if content is None else read_claims(content, str(place / CLAIMS))
    wanted = (found.model, usual.name, found.sha256)
    if claims and (claims["model"], claims["hypothesis"], claims.get("map_sha256", found.sha256)) == wanted:
        return claims
    return judge(found, usual).record()


def _joint(name: ModelName, sha256: str, places: Sequence[Path]) -> RunJudgement | None:
    # The verdict on the usual hypothesis, from the first measured alignment of these weights.
    usual = usual_for(arithmetic_task(name.operation, name.digits)).name
    for place in places:
        content = read_made(place, ALIGNMENT, f"carrylens settle {place}")
        measured = None if content is None else MeasuredAlignment.from_json(content, str(place / ALIGNMENT))
        if measured is not None and measured.is_of(str(name), sha256, usual):
            return run_judgement(measured)
    return None
