"""Records: the parts of `claims.json`, as they are written.

Takes  findings, roles and rates.
Gives  structs whose fields, in their order, are the keys of the file; lists, because JSON has no tuples.
Never  holds anything that is not saved.
"""

from __future__ import annotations

from msgspec import UNSET, Struct, UnsetType

from carrylens.claims.claims import ClaimKind
from carrylens.claims.rival_contrast import RivalContrast
from carrylens.claims.thresholds import Thresholds
from carrylens.claims.verdicts import Finding, ModelVerdict, Verdict
from carrylens.discovery.node_map import Role
from carrylens.evidence.confidence import stated_confidence
from carrylens.evidence.rates import Rate
from carrylens.nodes import print_nodes


class RateRecord(Struct, frozen=True):
    """A count with its exact interval, rounded."""

    hits: int
    n: int
    interval: list[float]

    @classmethod
    def of(cls, rate: Rate) -> RateRecord:
        """The record of a rate."""
        low, high = rate.interval
        return cls(rate.hits, rate.n, [round(low, 4), round(high, 4)])


class RoleRecord(Struct, frozen=True):
    """A role as evidence: the nodes, the rates of the interchange and of its null, and how sure that makes it.

    `why` is said of a role that no required claim is about.
    """

    nodes: str
    variable: str
    token: int
    hit: RateRecord
    null: RateRecord
    p: float
    confidence: float
    why: str | UnsetType = UNSET

    @classmethod
    def of(cls, role: Role, why: str | UnsetType = UNSET) -> RoleRecord:
        """The record of a role."""
        return cls(
            print_nodes(role.nodes),
            str(role.variable),
            role.token,
            RateRecord.of(role.hit),
            RateRecord.of(role.null),
            role.p,
            stated_confidence(role.hit, role.null),
            why,
        )


class WrongAnswersRecord(Struct, frozen=True):
    """How often the model answered wrong, as evidence."""

    failed: RateRecord


class FindingRecord(Struct, frozen=True):
    """A claim with its verdict and evidence."""

    claim: str
    kind: ClaimKind
    required: bool
    verdict: Verdict
    sentence: str
    why: str
    refuted_if: str
    evidence: list[RoleRecord | WrongAnswersRecord]

    @classmethod
    def of(cls, finding: Finding) -> FindingRecord:
        """The record of a finding."""
        claim, rate = finding.claim, finding.rate
        roles = [RoleRecord.of(role) for role in finding.roles]
        wrong = [] if rate is None else [WrongAnswersRecord(RateRecord.of(rate))]
        return cls(
            claim=claim.name,
            kind=claim.kind,
            required=claim.required,
            verdict=finding.verdict,
            sentence=claim.sentence,
            why=finding.why,
            refuted_if=claim.refuted_if,
            evidence=[*roles, *wrong],
        )


class HiddenByRecord(Struct, frozen=True):
    """The backup nodes that hide what a node does, and how many questions more fail without them."""

    nodes: str
    more: RateRecord


class NodeRecord(Struct, frozen=True):
    """A useful node without a role; tokens and classes are those that fail without it, and not anyway."""

    node: str
    place: str
    mean: RateRecord
    resample: RateRecord
    clean: RateRecord
    tokens: dict[str, RateRecord]
    classes: dict[str, RateRecord]
    hidden_by: HiddenByRecord | UnsetType = UNSET


class SummaryRecord(Struct, frozen=True):
    """The verdict on a model under one hypothesis, and how many required claims have which verdict."""

    model: str
    hypothesis: str
    skeleton: ModelVerdict
    required: dict[str, int]


class RivalRecord(SummaryRecord, frozen=True):
    """How a rival fares."""

    refuted: list[FindingRecord]
    told_apart_by: RivalContrast


class JudgementRecord(SummaryRecord, frozen=True):
    """The whole of `claims.json`."""

    thresholds: Thresholds
    claims: list[FindingRecord]
    unexplained: list[RoleRecord]
    not_asked_for: list[RoleRecord]
    nodes_without_role: list[NodeRecord]
    rivals: list[RivalRecord]
