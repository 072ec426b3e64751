"""The judgement: one verdict for a model, and how the rivals fare on the same facts.

Takes  a node map, a hypothesis and its rivals.
Gives  `Judgement`: every finding, the verdict on the model, the rivals' judgements, what tells them apart, and what was
       found that the hypothesis makes no claim about.
Never  averages: one required claim refuted is enough to refute, and one open is enough to leave it open.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from carrylens.claims.claims import claims_of
from carrylens.claims.hypothesis import Hypothesis
from carrylens.claims.records import FindingRecord, JudgementRecord, RequiredCounts, RivalRecord, RoleRecord
from carrylens.claims.rival_contrast import RivalContrast, contrast_rivals
from carrylens.claims.rules import Judge, verdict_on_model
from carrylens.claims.search_record import SearchRecord
from carrylens.claims.thresholds import THRESHOLDS, Thresholds
from carrylens.claims.unclaimed import Unclaimed, find_unclaimed
from carrylens.claims.verdicts import Finding, ModelVerdict, Verdict
from carrylens.discovery.node_map import NodeMap, Role
from carrylens.json_records import to_plain, to_text

CLAIMS = "claims.json"
"""What the usual hypothesis says of a model. Claims of a user's own hypothesis go to a file of another name."""


@dataclass(frozen=True, eq=False)
class Rivalry:
    """How a rival fares, and which questions tell it from the hypothesis."""

    judgement: Judgement
    contrast: RivalContrast

    def record(self) -> RivalRecord:
        """The rivalry as `claims.json` has it."""
        refuted = [FindingRecord.of(each) for each in self.judgement.findings if _refutes(each)]
        return RivalRecord(*self.judgement.summary(), refuted, self.contrast)


@dataclass(frozen=True, eq=False)
class Judgement:
    """All that was judged about one model under one hypothesis."""

    model: str
    hypothesis: Hypothesis
    findings: tuple[Finding, ...]
    unclaimed: Unclaimed
    rivals: tuple[Rivalry, ...]
    thresholds: Thresholds
    map_sha256: str
    weights: str | None = None

    @property
    def verdict(self) -> ModelVerdict:
        """Whether all that the hypothesis requires is in the model."""
        return verdict_on_model((each.claim.kind, each.verdict) for each in self.findings if each.claim.required)

    @property
    def unexplained(self) -> tuple[Role, ...]:
        """The sure roles of values that the hypothesis does not have."""
        return self.unclaimed.values

    def count(self, verdict: Verdict) -> int:
        """How many required claims have this verdict."""
        return sum(finding.claim.required and finding.verdict is verdict for finding in self.findings)

    def record(self) -> dict[str, Any]:
        """The judgement as `claims.json` has it."""
        record = JudgementRecord(
            *self.summary(),
            thresholds=self.thresholds,
            claims=[FindingRecord.of(finding) for finding in self.findings],
            unexplained=[RoleRecord.of(role) for role in self.unclaimed.values],
            not_asked_for=[RoleRecord.of(role, why) for role, why in self.unclaimed.roles],
            nodes_without_role=[node.record() for node in self.unclaimed.nodes],
            rivals=[each.record() for each in self.rivals],
        )
        plain: dict[str, Any] = to_plain(record)
        return plain

    def to_json(self) -> str:
        """The text of `claims.json`."""
        return to_text(self.saved_record(), indent=1) + "\n"

    def saved_record(self) -> dict[str, Any]:
        """The record with the hash of the map that was judged, as it is kept."""
        return {**self.record(), "map_sha256": self.map_sha256}

    def summary(self) -> tuple[str, str, ModelVerdict, RequiredCounts]:
        """The model, the hypothesis, the verdict, and how many required claims have which verdict."""
        counts = RequiredCounts.of(each.verdict for each in self.findings if each.claim.required)
        return self.model, self.hypothesis.name, self.verdict, counts


def judge(
    found: NodeMap, hypothesis: Hypothesis, rivals: Sequence[Hypothesis] = (), thresholds: Thresholds = THRESHOLDS
) -> Judgement:
    """Every claim of the hypothesis judged on the map, and every rival's too."""
    task = found.task
    hypothesis.check_fits(task)
    judging = Judge(hypothesis, SearchRecord(found), thresholds)
    return Judgement(
        model=found.model,
        hypothesis=hypothesis,
        findings=tuple(judging.find(claim) for claim in claims_of(hypothesis, task.layout)),
        unclaimed=find_unclaimed(judging),
        rivals=tuple(
            Rivalry(judge(found, rival, (), thresholds), contrast_rivals(task, hypothesis.model, rival.model))
            for rival in rivals
        ),
        thresholds=thresholds,
        map_sha256=found.sha256,
        weights=None if (said := found.stimuli.get("sha256")) is None else str(said),
    )


def _refutes(finding: Finding) -> bool:
    return finding.claim.required and finding.verdict is Verdict.REFUTED
