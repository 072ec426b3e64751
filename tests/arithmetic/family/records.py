"""Outcomes and members written by hand, so that what the table must say is known."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from carrylens.arithmetic.battery.outcome import BesidePaper, Card, Estimate, Outcome
from carrylens.arithmetic.battery.patching.measure import COMBINER_HEADS
from carrylens.arithmetic.battery.patching.summarise import HEADS_ROW
from carrylens.arithmetic.battery.registry import EXPERIMENTS
from carrylens.arithmetic.family.members import Member
from carrylens.arithmetic.model_names import ModelName
from carrylens.claims.verdicts import Verdict
from carrylens.evidence.facts import Fact
from carrylens.evidence.rates import Rate

QUICK: Mapping[str, object] = {"quick": True, "n_pairs": 40}
CARDS: Mapping[str, Card] = {each.card.name: each.card for each in EXPERIMENTS}


def a_fact(experiment: str, about: Mapping[str, object], hits: int, null: int = 0, n: int = 40) -> Fact:
    return Fact(f"battery {experiment}", about, Rate(hits, n), Rate(null, n), {"seed": 0})


def patched(hits: int, verdict: Verdict = Verdict.SUPPORTED) -> Outcome:
    about = {"branch": "add", "digit": 1, "depth": 0, "site": COMBINER_HEADS}
    facts = (
        a_fact("patching", about, hits),
        a_fact("patching", {**about, "pooled": True}, 40),  # already counted: must not count again
        a_fact("patching", {**about, "site": "the column's place"}, 40),
    )
    beside = BesidePaper(HEADS_ROW, "1.00", str(hits), hits == 40)
    return Outcome(CARDS["patching"], QUICK, verdict, "So it is.", facts, beside_paper=(beside,))


def carried(kinds: Sequence[str], verdict: Verdict = Verdict.SUPPORTED) -> Outcome:
    rows = tuple((f"ST[{k}]", kind, "-", "-", "-") for k, kind in enumerate(kinds))
    return Outcome(CARDS["make-carry"], QUICK, verdict, "Made.", headers=("column", "made at"), rows=rows)


def angled(low: float, high: float) -> Outcome:
    each = Estimate("|cos| positive-negative at A1", (low + high) / 2, low, high, 0.1, 0.0, 0.2, 40)
    return Outcome(CARDS["axes"], QUICK, Verdict.SUPPORTED, "Angles.", estimates=(each,))


def a_member(seed: int, *outcomes: Outcome, operation: str = "add", bar: bool | None = True) -> Member:
    name = ModelName.parse(f"{operation}_d3_l2_h3_w48_t1K_s{seed}")
    return Member(str(name), name, bar, {outcome.card.name: outcome for outcome in outcomes})


def full(outcome: Outcome) -> Outcome:
    return replace(outcome, settings={"quick": False, "n_pairs": 200})
