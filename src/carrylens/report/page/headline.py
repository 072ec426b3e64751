"""Headline: the verdict in a sentence, and how sure it is.

Takes  what was saved.
Gives  the first lines of a page, and the lines that `explain` ends with.
Never  says more than the claims do.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from carrylens.arithmetic.battery.implementation_claims import implementation_count
from carrylens.arithmetic.task import ArithmeticTask
from carrylens.claims.run_verdict import RunJudgement
from carrylens.claims.verdicts import RunVerdict
from carrylens.evidence.rates import Rate
from carrylens.report.claim_words import claims_said
from carrylens.report.page.effects import percent, rate_of_record
from carrylens.report.page.saved import Saved
from carrylens.report.terminal.map import shown_roles
from carrylens.report.terminal.tables import few_figures
from carrylens.report.terminal.verdict import verdict_sentence, verdict_title
from carrylens.tasks.task import Task

_DOES = {"add": "adds", "sub": "subtracts", "mix": "adds and subtracts"}
_WORDS = {
    "present": "Whether this model runs {what} is not settled: all of its carriers were found, but not tested jointly.",
    "absent": "This model does not run {what}, as it is stated.",
    "unclear": "Whether this model runs {what} is not settled.",
}


@dataclass(frozen=True)
class Tile:
    """One number that people look for, and what it is."""

    number: str
    what: str


@dataclass(frozen=True)
class Headline:
    """The top of a page."""

    model: str
    skeleton: str
    sentence: str
    title: str
    badge: str
    because: str
    sure: tuple[str, ...]
    tiles: tuple[Tile, ...]


def headline_of(saved: Saved) -> Headline:
    """The verdict of a model, and how sure it is."""
    claims, found = saved.claims, saved.map
    return Headline(
        model=found.model,
        skeleton=claims["skeleton"],
        sentence=_sentence(claims) if saved.joint is None else verdict_sentence(saved.joint),
        title=_sentence(claims) if saved.joint is None else verdict_title(saved.joint),
        badge=_badge(saved),
        because=_because(claims) if saved.joint is None else _joint_said(saved.joint, claims),
        sure=tuple(_sure(saved)),
        tiles=tuple(_tiles(saved)),
    )


def verdict_lines(saved: Saved) -> list[str]:
    """Lines for a terminal: verdict, claims, accuracy, map, rivals, and what would settle what is not settled."""
    head, found = headline_of(saved), saved.map
    roles = len(shown_roles(found))
    opening = head.sentence if found.model in head.sentence else f"{found.model}: {head.sentence}"
    return [
        opening,
        f"Claims:   {_because(saved.claims) if saved.joint is None else _joint_because(saved.joint, saved.claims)}",
        f"Accuracy: {_accuracy(saved)}",
        f"Map:      {len(found.useful)} of {len(found.nodes)} nodes are useful; {roles} roles, each with its null.",
        f"Rivals:   {_rivals(saved.claims)}",
        *(f"Paper:    {said}." for said in _implementation(saved)),
        *(f"Next:     {command}" for command in next_commands(saved)),
        *([f"Truth:    {saved.beside_truth}"] if saved.beside_truth else []),
    ]


def next_commands(saved: Saved) -> list[str]:
    """What would settle a verdict that is not settled; nothing for one that is."""
    if saved.joint is None:
        return [f"carrylens settle {saved.source}"] if saved.is_usual else []
    if saved.joint.verdict is not RunVerdict.NOT_SETTLED:
        return []
    return list(dict.fromkeys(each.settled_by for each in saved.joint.open))


def _badge(saved: Saved) -> str:
    # A verdict of the joint test goes before what the claims about the map come to.
    if saved.joint is None:
        return saved.claims["skeleton"] if saved.claims["skeleton"] != "present" else "unclear"
    of = {RunVerdict.RUNS: "present", RunVerdict.DOES_NOT_RUN: "absent"}
    return of.get(saved.joint.verdict, "unclear")


def _sentence(claims: Mapping[str, Any]) -> str:
    # Where a rival meets all of its own claims too, the sentence must not choose.
    what = f"the {claims['hypothesis']} algorithm"
    equals = [rival["hypothesis"] for rival in claims["rivals"] if rival["skeleton"] == "present"]
    if claims["skeleton"] == "present" and equals:
        return (
            f"Whether this model runs {what} or {' or '.join(equals)} is not settled: the map does not tell them apart."
        )
    return _WORDS[claims["skeleton"]].format(what=what)


def _joint_because(joint: RunJudgement, claims: Mapping[str, Any]) -> str:
    count, scrubbed = joint.carriers, joint.scrubbed
    stands = "" if scrubbed is None else f", {scrubbed.value:.0%} of answers stand with everything else resampled"
    return (
        f"{count.supported} of {count.required} required variables have a whole carrier{stands}. One variable at a "
        f"time, by the map: {_because(claims)}"
    )


def _joint_said(joint: RunJudgement, claims: Mapping[str, Any]) -> str:
    measured = verdict_sentence(joint).partition(": ")[2]
    return f"{measured[:1].upper()}{measured[1:]} {_joint_because(joint, claims)}"


def _because(claims: Mapping[str, Any]) -> str:
    counts = claims["required"]
    verdicts = ("supported", "refuted", "inconclusive", "untested")
    said = [f"{counts[name]} {name}" for name in verdicts if counts.get(name)]
    return f"Of {sum(counts.values())} claims that it must meet, {_listed(said)}."


def _listed(words: list[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}" if words else "none was judged"


def _sure(saved: Saved) -> Iterator[str]:
    settings = saved.map.stimuli.get("settings")
    roles = settings.get("roles", {}) if isinstance(settings, Mapping) else {}
    level = roles.get("level") if isinstance(roles, Mapping) else None
    if saved.joint is not None:
        yield from (f"{each.sentence} (share {each.share:.3g})" for each in saved.joint.deviations[:3])
    if level is not None:
        yield (
            "Every role was found on one set of questions, confirmed on another, and stands beside its matched null. "
            f"At most {percent(float(level))} of roles are expected by chance alone."
        )
    if weakest := _weakest(saved.claims):
        name, hit, null = weakest
        yield (
            f"The weakest evidence behind a supported claim: {name} makes the predicted token in {hit.hits} of {hit.n} "
            f"questions (95% interval {percent(hit.interval[0])} to {percent(hit.interval[1])}); its null moves it in "
            f"{null.hits} of {null.n}."
        )
    yield _accuracy(saved)
    if saved.beside_truth:
        yield saved.beside_truth
    yield from (f"Counted apart, by the experiments below: {said}." for said in _implementation(saved))


def _implementation(saved: Saved) -> Iterator[str]:
    count = implementation_count(saved.battery) if saved.is_usual else None
    if count is not None and count.testable:
        yield str(count)


def _weakest(claims: Mapping[str, Any]) -> tuple[str, Rate, Rate] | None:
    # Of each supported claim its best evidence, and of those the weakest.
    best = []
    for claim in claims["claims"]:
        shown = [each for each in claim["evidence"] if "hit" in each]
        if claim["required"] and claim["kind"] == "carried" and claim["verdict"] == "SUPPORTED" and shown:
            rates = [(rate_of_record(each["hit"]), each) for each in shown]
            hit, each = max(rates, key=lambda pair: pair[0].interval[0])
            best.append((f"{each['nodes']} for {each['variable']}", hit, rate_of_record(each["null"])))
    return min(best, key=lambda each: each[1].interval[0], default=None)


def _accuracy(saved: Saved) -> str:
    if saved.test is None:
        return "It was not tested for failures."
    said = []
    for part in _populations(saved):
        high, which = few_figures(1e6 * part["interval"][1]), f"{part['name']} {part['operation']}".strip()
        said.append(f"{part['failed']:,} of {part['asked']:,} {which} questions fail (at most {high} per million, 95%)")
    return f"{'; '.join(said)}." if said else "It was evaluated on no population of questions."


def _populations(saved: Saved) -> list[Mapping[str, Any]]:
    # The parts of a test that say how often a model fails: in arithmetic two of the three populations, and no class.
    parts = (saved.test or {}).get("parts", ())
    if isinstance(saved.map.task, ArithmeticTask):
        return [part for part in parts if part["name"] in ("natural", "enriched")]
    return [part for part in parts if part["name"] in saved.map.task.samplers]


def _rivals(claims: Mapping[str, Any]) -> str:
    said = [f"{rival['hypothesis']}: {claims_said(rival['skeleton'])}" for rival in claims["rivals"]]
    return f"{'; '.join(said)}." if said else "none was judged."


def _tiles(saved: Saved) -> Iterator[Tile]:
    counts, found = saved.claims["required"], saved.map
    total = sum(counts.values())
    yield Tile(f"{counts['supported']} of {total}", f"required claims supported, {counts['refuted']} refuted")
    if parts := _populations(saved):
        failed, asked = sum(part["failed"] for part in parts), sum(part["asked"] for part in parts)
        names = " and ".join(dict.fromkeys(part["name"] for part in parts))
        of = "natural and enriched" if isinstance(found.task, ArithmeticTask) else names
        yield Tile(f"{failed:,}", f"failures in {asked:,} {of} questions")
    yield Tile(f"{len(found.useful)} of {len(found.nodes)}", "nodes are useful: some question fails without them")
    rivals = saved.claims["rivals"]
    gone = sum(rival["skeleton"] == "absent" for rival in rivals)
    yield Tile(f"{gone} of {len(rivals)}", "rival algorithms refuted on the same facts")
    if saved.battery:
        supported = sum(str(each["verdict"]).upper() == "SUPPORTED" for each in saved.battery)
        yield Tile(f"{supported} of {len(saved.battery)}", "experiments support what they test")


def shape_line(saved: Saved) -> str:
    """What the model is, in a line."""
    found = saved.map
    layers = f"{found.n_layers} layer{'s' if found.n_layers > 1 else ''}"
    heads = f"{found.n_heads} head{'s' if found.n_heads > 1 else ''}"
    return f"A transformer {_purpose(found.task)}: {layers}, {heads} each."


def _purpose(task: Task) -> str:
    if isinstance(task, ArithmeticTask):
        return f"that {_DOES[task.operation.value]} numbers of {task.digits} digits"
    return f"for {task.name}"
