"""Claims about circuits: the skeleton in every model, what is invariant, what varies, what the maps show.

Takes  saved evidence: maps, claims, outcomes of experiments.
Gives  `CIRCUIT_CLAIMS`, from the skeleton to the table of invariants, and `MAP_CLAIMS` of the appendices' maps.
Never  counts a role whose interval does not lie above one half.
"""

from __future__ import annotations

from collections import Counter
from itertools import combinations

from carrylens.arithmetic.battery.make_carry.summarise import MADE_IN_PLACE, MADE_SPLIT
from carrylens.arithmetic.battery.measures.verdict_rules import surely_most
from carrylens.arithmetic.family.circuits import CIRCUIT_QUESTIONS
from carrylens.arithmetic.family.members import Member
from carrylens.arithmetic.family.table import CIRCUIT_SECTION, Standing
from carrylens.arithmetic.paper.claim import Agreement, PaperAnswer, PaperClaim, PaperReader, missing
from carrylens.arithmetic.paper.readers import (
    FAMILY_COMMAND,
    apart,
    counted,
    in_every,
    in_some,
    not_yet,
    of_digits,
    of_operation,
    shown,
    with_digits,
)
from carrylens.arithmetic.paper.saved import PaperEvidence
from carrylens.discovery.node_map import NodeMap

_SIX = "add_d6_l2_h3_w96_t2K_s1"
_MIXED = "mix_d6_l3_h4_w96_t4K_s1"
_MAP = "carrylens map MODEL"


def _circuit(name: str, why: str = "") -> PaperReader:
    # What a question about maps and claims says in every model, the paper's word being the commonest good one.
    def read(evidence: PaperEvidence) -> PaperAnswer:
        row = evidence.row(CIRCUIT_SECTION, name)
        if row is None or not any(cell.word or cell.figure for cell in row.cells):
            return missing("no map was judged", "carrylens judge MODEL")
        words = Counter(cell.word for cell in row.cells if cell.word)
        rest = "; ".join(row.rest)
        agreed = {"present", "runs", "all supported", "none surely is"}
        if any(word not in agreed for word in words):
            said = Agreement.DIFFERS
        else:
            said = Agreement.AGREES if row.standing is Standing.HOLDS else Agreement.OPEN
        ours = f"of {len(row.cells)} models: {counted(words.most_common())}{'; ' if rest and words else ''}{rest}"
        return PaperAnswer(said, ours, len(row.cells), "models", command=FAMILY_COMMAND, why=why)

    return read


def _constraints(evidence: PaperEvidence) -> PaperAnswer:
    member = evidence.member(_SIX)
    if member is None or member.claims is None:
        return missing(f"no claims about {_SIX} are saved", f"carrylens judge {_SIX}")
    required = [claim for claim in member.claims["claims"] if claim["required"]]
    kinds = Counter(str(claim["verdict"]).lower() for claim in required)
    return PaperAnswer(
        Agreement.AGREES if len(required) > 30 else Agreement.DIFFERS,
        f"{len(required)} claims follow from the algorithm: {counted(kinds.most_common())}",
        len(required),
        "claims",
        command=f"carrylens judge {_SIX}",
    )


def _redundant_sc(evidence: PaperEvidence) -> PaperAnswer:
    searched = [member for member in evidence.members if member.map is not None]
    with_sc = [m for m in searched if m.map and any(role.variable.name in ("SC", "MC", "NC") for role in m.map.roles)]
    if not with_sc:
        return missing("the saved maps were not searched for SC, MC and NC, which no answer needs", _MAP)
    return PaperAnswer(
        Agreement.AGREES if len(with_sc) < len(searched) else Agreement.DIFFERS,
        f"{len(with_sc)} of {len(searched)} maps have a node that carries SC, MC or NC",
        len(searched),
        "models",
        command=_MAP,
    )


def _which_head(evidence: PaperEvidence) -> PaperAnswer:
    seeds: dict[str, list[NodeMap]] = {}
    for member in evidence.members:
        if member.map is not None:
            seeds.setdefault(str(member.name).rpartition("_s")[0], []).append(member.map)
    alike = [_jaccard(a, b) for maps in seeds.values() for a, b in combinations(maps, 2)]
    if not alike:
        return missing("no two seeds of one shape are mapped", _MAP)
    return PaperAnswer(
        Agreement.AGREES if max(alike) < 0.5 else Agreement.DIFFERS,
        f"two seeds of one shape share {min(alike):.2f} to {max(alike):.2f} of their pairs of node and variable "
        "(Jaccard)",
        len(alike),
        "pairs of models",
        command=FAMILY_COMMAND,
    )


def _jaccard(one: NodeMap, other: NodeMap) -> float:
    mine, theirs = (
        {(role.nodes, role.variable) for role in each.roles if surely_most(role.hit)} for each in (one, other)
    )
    return len(mine & theirs) / max(1, len(mine | theirs))


def _two_heads(evidence: PaperEvidence) -> PaperAnswer:
    models = [member for member in evidence.members if member.map is not None]
    split = [member for member in models if _split_roles(member)]
    if not models:
        return missing("no model is mapped", _MAP)
    roles = sum(_split_roles(member) for member in split)
    return PaperAnswer(
        Agreement.AGREES if split else Agreement.DIFFERS,
        f"in {len(split)} of {len(models)} models some variable is carried by several heads of one layer and place, "
        f"{roles} roles in all",
        len(models),
        "models",
        command=_MAP,
    )


def _split_roles(member: Member) -> int:
    assert member.map is not None
    return sum(
        len(role.nodes) > 1
        and len({(node.position, node.layer) for node in role.nodes}) == 1
        and all(node.head is not None for node in role.nodes)
        and surely_most(role.hit)
        for role in member.map.roles
    )


def _clusters(evidence: PaperEvidence) -> PaperAnswer:
    clear = seen = models = looked = 0
    for member in evidence.members:
        found = [] if member.map is None else [each for b in member.map.behaviours for each in b.clusters]
        three = [each for each in found if each.variable.name == "ST" and each.n_classes == 3]
        seen, clear = seen + len(three), clear + sum(each.are_clear for each in three)
        models, looked = models + any(each.are_clear for each in three), looked + bool(three)
    if not seen:
        return missing("no principal components of nodes are saved", _MAP)
    return PaperAnswer(
        Agreement.AGREES if models == looked else Agreement.DIFFERS,
        f"in {models} of {looked} models some node's write falls into three clear classes; {clear:,} of all {seen:,} "
        "pairs of node and column do",
        seen,
        "pairs of node and column",
        "the best of shuffled labels, which the silhouette must beat at p 0.01",
        _MAP,
    )


def _one_digit_after(evidence: PaperEvidence) -> PaperAnswer:
    after, single = 0, 0
    for member in evidence.members:
        if member.map is None:
            continue
        digits = member.name.digits
        for node in member.map.nodes:
            if node.node.position > 2 * digits + 2 and node.is_useful:
                changed = sum(rate.hits > 0 for rate in node.tokens)
                after, single = after + 1, single + (changed <= 1)
    if not after:
        return missing("no map says which answer tokens a node changes", _MAP)
    return PaperAnswer(
        Agreement.AGREES if single == after else Agreement.DIFFERS,
        f"of {after:,} useful nodes at answer places {single:,} change one token alone when ablated",
        after,
        "nodes",
        command=_MAP,
        why="" if single == after else "an ablation also changes later places that read the node",
    )


def _positions(evidence: PaperEvidence) -> PaperAnswer:
    member = next((m for m in evidence.members if m.name.digits == 5 and m.name.operation.value == "add"), None)
    if member is None or member.map is None:
        return missing("no five-digit addition is mapped", _MAP)
    used = sorted({node.node.position for node in member.map.nodes if node.is_useful})
    heads = sum(node.is_useful and node.node.head is not None for node in member.map.nodes)
    mlps = sum(node.is_useful and node.node.head is None for node in member.map.nodes)
    return PaperAnswer(
        Agreement.AGREES if used[0] == 6 else Agreement.DIFFERS,
        f"{member.name}: P{used[0]} to P{used[-1]}, {heads} heads and {mlps} MLPs at places",
        len(member.map.nodes),
        "nodes",
        command=f"carrylens map {member.name}",
        why="" if used[0] == 6 else "another training run, another layout of the work",
        single=True,
    )


def _first_place(evidence: PaperEvidence) -> PaperAnswer:
    mixed = [m for m in evidence.members if m.map is not None and m.name.operation.value == "mix"]
    if not mixed:
        return missing("no mixed model is mapped", _MAP)
    using = [m for m in mixed if m.map and any(n.node.position == 0 and n.is_useful for n in m.map.nodes)]
    return PaperAnswer(
        Agreement.AGREES if len(using) == len(mixed) else Agreement.DIFFERS,
        f"ablating nodes at P0 makes questions fail in {len(using)} of {len(mixed)} mixed models",
        len(mixed),
        "models",
        command=_MAP,
        why="P0 sees one digit; what it writes is needed in some models and not in others",
    )


_NAMES = [question.name for question in CIRCUIT_QUESTIONS]

CIRCUIT_CLAIMS = (
    PaperClaim(
        "Abstract; 4.2.1",
        "all 27 accurate addition and mixed models have the same circuit skeleton",
        _circuit(_NAMES[0]),
    ),
    PaperClaim("1; 4.2.1", "the six-digit model meets more than 30 constraints", _constraints),
    PaperClaim("Table 1", "every required sub-task is present", _circuit(_NAMES[2])),
    PaperClaim("Table 1", "at a valid position", _circuit(_NAMES[4])),
    PaperClaim("Table 1", "in an order that the algorithm allows", _circuit(_NAMES[3])),
    PaperClaim(
        "Table 1; 4.2.2",
        "each column's carry is computed in place",
        in_every("make-carry", "carry-place", MADE_IN_PLACE, MADE_SPLIT),
    ),
    PaperClaim(
        "Table 1; 4.2.2",
        "as a binary make-carry",
        in_every("make-carry", "carry-values", "binary", why="its own principal components show three classes"),
    ),
    PaperClaim(
        "Table 1",
        "the resolved carry is delivered carry-specifically to a combiner at the answer's place",
        in_every("paths", "delivered-by-layer-heads", "yes"),
    ),
    PaperClaim("Table 1", "by redundant heads", in_every("paths", "delivering-heads", "redundant heads")),
    PaperClaim(
        "Table 1; 4.2.2",
        "= is a depot, not the source",
        in_every("paths", "role-of-equals", "depot", why="in most models the carry does not pass through = at all"),
    ),
    PaperClaim(
        "Table 1; 4.2.2",
        "the combiner is a step function of the carry",
        in_every(
            "combiner", "step-of-mlp-output", "a step", why="read through an argmax every monotone curve is a step"
        ),
    ),
    PaperClaim(
        "Table 1; 4.2.2",
        "no single node that delivers a carry is necessary",
        in_every("necessity", "heads-that-deliver", "redundant"),
    ),
    PaperClaim(
        "Table 1; 4.2.2",
        "no single node that makes a carry is necessary",
        in_every("necessity", "heads-that-make", "redundant"),
    ),
    PaperClaim("Table 1", "which head implements a sub-task varies", _which_head),
    PaperClaim("Table 1", "some sub-tasks are split across two heads of one place", _two_heads),
    PaperClaim(
        "Table 1",
        "the gap between all heads and the worst one grows with digits (delivering)",
        with_digits("necessity", "gap-deliver"),
    ),
    PaperClaim(
        "Table 1",
        "the gap between all heads and the worst one grows with digits (making)",
        with_digits("necessity", "gap-make"),
    ),
    PaperClaim("Table 1; 3.2", "some models also compute the redundant SC", _redundant_sc),
    PaperClaim("Table 1, Fig. 6", "three classes of ST in principal components of writes", _clusters),
    PaperClaim(
        "Table 1; 4.2.2",
        "the top carry is read 2 tokens after D'0 at 5 and 6 digits",
        in_every("probes", "top-carry-lag", "2 tokens", among=of_digits("add", 5, 6)),
    ),
    PaperClaim(
        "Table 1; 4.2.2",
        "and 3 tokens after D'0 at 8 digits",
        in_every("probes", "top-carry-lag", "3 tokens", among=of_digits("add", 8)),
    ),
    PaperClaim(
        "Table 1",
        "residual stream or last-layer heads deliver a mixed model's carry: which one varies",
        in_some("paths", "delivered-by-earlier-nodes", among=of_operation("mix")),
    ),
    PaperClaim(
        "Table 1; 4.2.3",
        "a mixed model's borrow comes through several heads at 6 digits",
        in_every("paths", "delivering-heads", "redundant heads", "heads that share it", among=of_digits("mix", 6)),
    ),
    PaperClaim(
        "Table 1; 4.2.3",
        "and through one head at 8 digits",
        in_every("paths", "delivering-heads", "one head alone", among=of_digits("mix", 8)),
    ),
    PaperClaim(
        "Table 1",
        "the separation of the carry's axis falls with digits",
        with_digits("probes", "carry-axis-separation"),
    ),
    PaperClaim(
        "Fig. 6",
        "principal components of three heads, coloured by ST",
        shown("the figure clouds of the report", f"carrylens report {_SIX} --figures figures"),
    ),
)
MAP_CLAIMS = (
    PaperClaim(
        "Table 4",
        "a map of a six-digit addition: ST in no order, SC nodes, SA across two heads",
        shown("docs/purpose_map.svg", f"carrylens report {_SIX} --figures figures"),
    ),
    PaperClaim("Table 7", "after = every node serves one answer digit alone", _one_digit_after),
    PaperClaim(
        "Table 7",
        "which answer digits each node changes",
        shown("the figure of node tables of the report", "carrylens report add_d5_l2_h3_w96_t2K_s1 --figures figures"),
    ),
    PaperClaim("Fig. 8", "a five-digit addition uses nodes from P6 (D'4) on alone", _positions),
    PaperClaim(
        "Table 8",
        "a map of a six-digit mixed model",
        shown("the page about it", f"carrylens report {_MIXED} --figures figures"),
    ),
    PaperClaim("App. H", "mixed models use what they compute at P0", _first_place),
    PaperClaim(
        "App. H",
        "a first digit of 8 or 9 makes + likelier, and the model uses it",
        not_yet(
            "P0 is ablated as a whole; whether a high first digit moves the sign is only read, not ablated by digit",
            f"carrylens battery {_MIXED} --only lenses",
        ),
    ),
    PaperClaim(
        "App. I",
        "Hypothesis 3, run as a program, makes no error in a million additions",
        not_yet(
            "Hypothesis 3 is not stated as a hypothesis file",
            "carrylens judge add_d5_l2_h3_w96_t2K_s1 --hypothesis FILE",
        ),
    ),
    PaperClaim(
        "App. I",
        "ablating P10.L0.H1 changes A5, A4, A3 and A2, not A1 and A0",
        apart("it names a node of one published model, whose weights are not here"),
    ),
    PaperClaim(
        "App. I",
        "P14 uses its own ST1, and the earlier value where they disagree",
        not_yet("no interchange tells the two sources apart yet"),
    ),
)
