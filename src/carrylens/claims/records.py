"""Records: the parts of `claims.json`, as they are written.

Takes  findings, roles and rates.
Gives  structs whose fields, in their order, are the keys of the file; lists, because JSON has no tuples.
Never  holds anything that is not saved.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Annotated, Any

from msgspec import UNSET, Meta, Struct, UnsetType

from carrylens.claims.claims import ClaimKind
from carrylens.claims.rival_contrast import RivalContrast
from carrylens.claims.rules import verdict_on_model
from carrylens.claims.thresholds import Thresholds
from carrylens.claims.verdicts import Finding, ModelVerdict, Verdict
from carrylens.discovery.node_map import Role
from carrylens.errors import CarryLensError
from carrylens.evidence.rates import Rate
from carrylens.json_records import Count, Schema, Share, to_plain
from carrylens.nodes import print_nodes

_ROUNDED = 2e-4


class RateRecord(Struct, frozen=True):
    """A count with its exact interval, rounded."""

    hits: Count
    n: Count
    interval: Annotated[list[Share], Meta(min_length=2, max_length=2)]

    def __post_init__(self) -> None:
        exact = Rate(self.hits, self.n).interval
        if any(abs(one - other) > _ROUNDED for one, other in zip(exact, self.interval, strict=True)):
            raise CarryLensError(f"{self.interval} is not the interval of {self.hits} of {self.n}")

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
    token: Count
    hit: RateRecord
    null: RateRecord
    p: Share
    confidence: Share
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
            role.confidence,
            why,
        )


class EvidenceRecord(Struct, frozen=True, kw_only=True):
    """What a finding rests on: a role, or how often the model answered wrong."""

    nodes: str | UnsetType = UNSET
    variable: str | UnsetType = UNSET
    token: Count | UnsetType = UNSET
    hit: RateRecord | UnsetType = UNSET
    null: RateRecord | UnsetType = UNSET
    p: Share | UnsetType = UNSET
    confidence: Share | UnsetType = UNSET
    failed: RateRecord | UnsetType = UNSET

    def __post_init__(self) -> None:
        of_role = [getattr(self, name) is not UNSET for name in self.__struct_fields__ if name != "failed"]
        if any(of_role) != all(of_role) or any(of_role) == (self.failed is not UNSET):
            raise CarryLensError("evidence is a whole role, or a rate of wrong answers")

    @classmethod
    def of(cls, role: Role) -> EvidenceRecord:
        """The record of a role as evidence."""
        record = RoleRecord.of(role)
        return cls(**{name: getattr(record, name) for name in record.__struct_fields__ if name != "why"})


class FindingRecord(Struct, frozen=True):
    """A claim with its verdict and evidence."""

    claim: str
    kind: ClaimKind
    required: bool
    verdict: Verdict
    sentence: str
    why: str
    refuted_if: str
    evidence: list[EvidenceRecord]

    @classmethod
    def of(cls, finding: Finding) -> FindingRecord:
        """The record of a finding."""
        claim, rate = finding.claim, finding.rate
        roles = [EvidenceRecord.of(role) for role in finding.roles]
        wrong = [] if rate is None else [EvidenceRecord(failed=RateRecord.of(rate))]
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


class RequiredCounts(Struct, frozen=True):
    """How many required claims have which verdict."""

    supported: Count
    refuted: Count
    inconclusive: Count
    untested: Count

    @classmethod
    def of(cls, verdicts: Iterable[Verdict]) -> RequiredCounts:
        """The counts of these."""
        counts = Counter(verdicts)
        return cls(*(counts[each] for each in _COUNTED))


_COUNTED = (Verdict.SUPPORTED, Verdict.REFUTED, Verdict.INCONCLUSIVE, Verdict.UNTESTED)


class SummaryRecord(Struct, frozen=True):
    """The verdict on a model under one hypothesis, and how many required claims have which verdict."""

    model: str
    hypothesis: str
    skeleton: ModelVerdict
    required: RequiredCounts


class RivalRecord(SummaryRecord, frozen=True):
    """How a rival fares."""

    refuted: list[FindingRecord]
    told_apart_by: RivalContrast

    def __post_init__(self) -> None:
        is_refuted = all(each.required and each.verdict is Verdict.REFUTED for each in self.refuted)
        if not is_refuted or len(self.refuted) != self.required.refuted:
            raise CarryLensError(f"{self.required.refuted} claims of a rival are refuted, but others are listed")
        if (self.skeleton is ModelVerdict.DOES_NOT_RUN) != bool(self.refuted):
            raise CarryLensError(f"a rival with {len(self.refuted)} refuted claims is not {self.skeleton.value}")


class JudgementRecord(SummaryRecord, frozen=True):
    """The whole of `claims.json`."""

    thresholds: Thresholds
    claims: list[FindingRecord]
    unexplained: list[RoleRecord]
    not_asked_for: list[RoleRecord]
    nodes_without_role: list[NodeRecord]
    rivals: list[RivalRecord]
    map_sha256: str | UnsetType = UNSET
    """The hash of the map that was judged; files of the first version do not say."""

    def __post_init__(self) -> None:
        required = [each for each in self.claims if each.required]
        if self.required != RequiredCounts.of(each.verdict for each in required):
            raise CarryLensError("its counts of required claims are not those of the claims it lists")
        if self.skeleton is not verdict_on_model((each.kind, each.verdict) for each in required):
            raise CarryLensError(f"its claims do not come to {self.skeleton.value}")


CLAIMS_SCHEMA = Schema(JudgementRecord, "list of judged claims", "Judge the map again.")


def read_claims(content: bytes, source: str) -> dict[str, Any]:
    """What a file of claims says, as plain data."""
    plain: dict[str, Any] = to_plain(CLAIMS_SCHEMA.decode(content, source))
    return plain
