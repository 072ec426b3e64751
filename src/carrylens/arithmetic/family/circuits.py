"""Circuits: what of a model's map and of the claims about it is compared between models.

Takes  members of the family.
Gives  `CIRCUIT_QUESTIONS`: the verdict, the claims, redundancy, shared nodes and what is missing.
Never  counts a role whose interval does not lie above one half.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from carrylens.arithmetic.battery.battery_file import PlainRecord
from carrylens.arithmetic.battery.measures.verdict_rules import surely_most
from carrylens.arithmetic.family.cells import NOT_RUN, UNTESTED, CellState, FamilyCell
from carrylens.arithmetic.family.members import Member
from carrylens.claims.verdicts import RunVerdict
from carrylens.nodes import Node

RUNS_QUESTION = "verdict on the left-to-right algorithm"
_KINDS = {
    "answers": "claims: the untouched model answers as the algorithm",
    "carried": "claims: every variable is carried",
    "order": "claims: carried before what is made from it",
    "timely": "claims: carried only where it can be known",
    "room": "claims: nodes one after another",
}


@dataclass(frozen=True)
class CircuitQuestion:
    """One row: what is asked of the map and the claims, and how a cell is read."""

    name: str
    read: Callable[[Member], FamilyCell]


def _verdict(member: Member) -> FamilyCell:
    joint = member.joint
    if joint is None or joint.joint_interchange is None:
        return NOT_RUN
    rate = joint.joint_interchange
    figure = f"{rate.value:.2f} [{rate.low:.2f}, {rate.high:.2f}] of joint interchanges"
    if joint.verdict is RunVerdict.NOT_SETTLED:
        return FamilyCell(CellState.OPEN, figure=figure)
    return FamilyCell(CellState.TOLD, joint.verdict.value, figure)


def _claims(kind: str) -> Callable[[Member], FamilyCell]:
    def read(member: Member) -> FamilyCell:
        if member.claims is None:
            return NOT_RUN
        mine = [claim for claim in member.claims["claims"] if claim["required"] and claim["kind"] == kind]
        return _borne_out(mine)

    return read


def _borne_out(claims: Sequence[PlainRecord]) -> FamilyCell:
    counts = Counter(str(claim["verdict"]).lower() for claim in claims)
    figure = ", ".join(f"{n} {verdict}" for verdict, n in sorted(counts.items(), key=lambda each: (-each[1], each[0])))
    if not claims or set(counts) == {"untested"}:
        return FamilyCell(CellState.UNTESTED, figure=figure)
    if counts["refuted"]:
        return FamilyCell(CellState.TOLD, "some refuted", figure)
    return (
        FamilyCell(CellState.TOLD, "all supported", figure)
        if set(counts) == {"supported"}
        else FamilyCell(CellState.OPEN, "", figure)
    )


def _redundant(member: Member) -> FamilyCell:
    if member.map is None:
        return NOT_RUN
    if not member.map.groups:
        return UNTESTED
    spare = {group.variable for group in member.map.groups if group.spare}
    families = Counter(variable.name for variable in spare)
    figure = ", ".join(f"{name} {n}" for name, n in sorted(families.items())) or "none"
    return FamilyCell(CellState.TOLD, "some are" if spare else "none is", figure)


def _shared(member: Member) -> FamilyCell:
    if member.map is None:
        return NOT_RUN
    carried: dict[Node, set[str]] = {}
    for role in member.map.roles:
        if len(role.nodes) == 1 and surely_most(role.hit):
            carried.setdefault(role.nodes[0], set()).add(str(role.variable))
    if not carried:
        return UNTESTED
    several = sum(len(variables) > 1 for variables in carried.values())
    return FamilyCell(CellState.TOLD, "some do" if several else "none does", f"{several} of {len(carried)}")


def _missing(member: Member) -> FamilyCell:
    if member.claims is None:
        return NOT_RUN
    mine = [claim for claim in member.claims["claims"] if claim["required"] and claim["kind"] == "carried"]
    gone = Counter(
        claim["claim"].split()[1].split("[")[0] for claim in mine if str(claim["verdict"]).upper() == "REFUTED"
    )
    if not mine:
        return UNTESTED
    figure = ", ".join(f"{name} {n}" for name, n in sorted(gone.items())) or f"of {len(mine)} claims"
    return FamilyCell(CellState.TOLD, "some surely are" if gone else "none surely is", figure)


CIRCUIT_QUESTIONS = (
    CircuitQuestion(RUNS_QUESTION, _verdict),
    *(CircuitQuestion(name, _claims(kind)) for kind, name in _KINDS.items()),
    CircuitQuestion("variables the algorithm needs that are missing", _missing),
    CircuitQuestion("variables carried by more nodes than need be interchanged", _redundant),
    CircuitQuestion("nodes that alone carry several variables", _shared),
)
