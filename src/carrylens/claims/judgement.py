"""The skeleton: one verdict for a model, and how the rivals fare on the same facts.

Takes  a node map, a hypothesis and its rivals.
Gives  `Judgement`: every finding, whether the skeleton is present, the rivals' judgements, what tells them apart, and
       what was found that the hypothesis does not have.
Never  averages: one required claim refuted is enough to refute, and one open is enough to leave it open.

The rule: absent if any required claim is refuted. Present if every required claim is supported, but for those that say
what must not be (apart), which may stay untested. Else unclear.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from carrylens.claims.claims import Kind, claims_of
from carrylens.claims.hypothesis import Hypothesis
from carrylens.claims.rival_contrast import Telling, telling_questions
from carrylens.claims.rules import Judge
from carrylens.claims.search_record import Search
from carrylens.claims.thresholds import THRESHOLDS, Thresholds
from carrylens.claims.unclaimed import Beyond, beyond
from carrylens.claims.verdicts import Finding, Skeleton, Verdict
from carrylens.discovery.node_map import NodeMap, Role
from carrylens.errors import CarryLensError

CLAIMS = "claims.json"
"""What the usual account says of a model. Claims of a user's own hypothesis go to a file of another name."""
_LONGEST_NAME = 60


@dataclass(frozen=True, eq=False)
class Rivalry:
    """How a rival fares, and which questions tell it from the hypothesis."""

    judgement: Judgement
    telling: Telling


@dataclass(frozen=True, eq=False)
class Judgement:
    """All that was judged about one model under one hypothesis."""

    model: str
    hypothesis: Hypothesis
    findings: tuple[Finding, ...]
    beyond: Beyond
    rivals: tuple[Rivalry, ...]
    thresholds: Thresholds

    @property
    def skeleton(self) -> Skeleton:
        """Whether what the hypothesis needs is in the model."""
        return skeleton_of(self.findings)

    @property
    def unexplained(self) -> tuple[Role, ...]:
        """The sure roles of values that the hypothesis does not have."""
        return self.beyond.values

    def count(self, verdict: Verdict) -> int:
        """How many required claims have this verdict."""
        return sum(finding.claim.required and finding.verdict is verdict for finding in self.findings)

    def record(self) -> dict[str, Any]:
        """The judgement as `claims.json` has it."""
        return {
            **self._summary(),
            "thresholds": asdict(self.thresholds),
            "claims": [finding.record() for finding in self.findings],
            **self.beyond.record(),
            "rivals": [
                each.judgement._summary()
                | {"refuted": [f.record() for f in each.judgement.findings if _refutes(f)]}
                | {"told_apart_by": asdict(each.telling)}
                for each in self.rivals
            ],
        }

    def to_json(self) -> str:
        """The text of `claims.json`."""
        return json.dumps(self.record(), indent=1) + "\n"

    def _summary(self) -> dict[str, Any]:
        counts = {verdict.value.lower(): self.count(verdict) for verdict in Verdict}
        summary = {"model": self.model, "hypothesis": self.hypothesis.name, "skeleton": self.skeleton.value}
        return summary | {"required": counts}


def judge(
    found: NodeMap, hypothesis: Hypothesis, rivals: Sequence[Hypothesis] = (), thresholds: Thresholds = THRESHOLDS
) -> Judgement:
    """Every claim of the hypothesis judged on the map, and every rival's too."""
    shape = (hypothesis.model.operation, hypothesis.model.digits)
    if shape != (found.operation, found.digits):
        raise CarryLensError(
            f"{hypothesis.name!r} is for {shape[0].value} with {shape[1]} digits, but the map is of a model for "
            f"{found.operation.value} with {found.digits}. State it for that operation and number of digits."
        )
    search = Search(found)
    judging = Judge(hypothesis, search, thresholds)
    return Judgement(
        model=found.model,
        hypothesis=hypothesis,
        findings=tuple(judging.find(claim) for claim in claims_of(hypothesis)),
        beyond=beyond(judging),
        rivals=tuple(
            Rivalry(judge(found, rival, (), thresholds), telling_questions(hypothesis.model, rival.model))
            for rival in rivals
        ),
        thresholds=thresholds,
    )


def claims_file(own: str | None = None) -> str:
    """The name of the file for the claims of the usual account, or of a user's own hypothesis.

    >>> claims_file(), claims_file("Nine carries, ../ever!")
    ('claims.json', 'claims.nine-carries-ever.json')
    """
    if own is None:
        return CLAIMS
    safe = re.sub(r"[^a-z0-9]+", "-", own.lower()).strip("-")[:_LONGEST_NAME]
    return f"claims.{safe or 'own'}.json"


def skeleton_of(findings: Iterable[Finding]) -> Skeleton:
    """The one verdict, by the rule of this module."""
    required = [finding for finding in findings if finding.claim.required]
    if any(map(_refutes, required)):
        return Skeleton.ABSENT
    needed = [finding for finding in required if finding.claim.kind is not Kind.APART]
    supported = needed and all(finding.verdict is Verdict.SUPPORTED for finding in needed)
    return Skeleton.PRESENT if supported else Skeleton.UNCLEAR


def _refutes(finding: Finding) -> bool:
    return finding.claim.required and finding.verdict is Verdict.REFUTED
