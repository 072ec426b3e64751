"""Claims as text: the claims about a map by group, and what is open or refuted.

Takes  the record of a judgement, as `claims.json` has it.
Gives  lines for a terminal.
Never  judges.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from carrylens.evidence.confidence import say_confidence, stated_confidence
from carrylens.evidence.rates import Rate
from carrylens.report.claim_words import claims_said
from carrylens.report.plain_records import Record
from carrylens.report.terminal.tables import align

_VERDICTS = ("SUPPORTED", "REFUTED", "INCONCLUSIVE", "UNTESTED")
_KINDS = {
    "answers": "the untouched model answers as the algorithm",
    "carried": "some node or group carries",
    "order": "carried before what is made from it:",
    "timely": "carried only where it can be known:",
    "room": "nodes one after another for",
    "apart": "not moved by inputs it does not depend on:",
}
"""What a saved verdict on a rival's claims says of it."""
_MOST_REFUTED, _MOST_LISTED, _MOST_EVIDENCE = 3, 2, 2


def claim_lines(judgement: Record, every: bool = False) -> Iterator[str]:
    """All claims about the map; `every` lists supported ones too."""
    yield claims_count(judgement)
    yield ""
    yield from _table([claim for claim in judgement["claims"] if claim["required"]])
    required = [claim for claim in judgement["claims"] if claim["required"]]
    supported = [claim for claim in required if claim["verdict"] == "SUPPORTED"]
    unsure = [claim for claim in required if claim["verdict"] != "SUPPORTED"]
    yield from _least_sure(supported)
    yield from _listed("Not supported", unsure, every)
    yield from _listed("Supported", supported, every) if every else ()
    yield from _optional([claim for claim in judgement["claims"] if not claim["required"]])
    yield from _beyond(judgement, every)
    for rival in judgement["rivals"]:
        yield from _rival(rival)


def claims_count(judgement: Record) -> str:
    """How many of the required claims about the map have which verdict."""
    counts = judgement["required"]
    said = ", ".join(f"{counts[verdict.lower()]} {verdict.lower()}" for verdict in _VERDICTS)
    return f"{judgement['hypothesis']} requires {sum(counts.values())} claims about the map: {said}."


def _table(claims: Sequence[Record]) -> Iterator[str]:
    body = [
        [what, str(len(some)), *(str(sum(claim["verdict"] == verdict for claim in some)) for verdict in _VERDICTS)]
        for what, some in grouped(claims).items()
    ]
    yield from align(["claim", "claims", *(verdict.lower() for verdict in _VERDICTS)], body)


def grouped(claims: Sequence[Record]) -> dict[str, list[Record]]:
    """The claims by what they say of which family, in the order they are read."""
    groups: dict[str, list[Record]] = {}
    for kind in _KINDS:
        for claim in claims:
            if claim["kind"] == kind:
                family = "" if kind == "answers" else _family(claim["claim"])
                groups.setdefault(f"{_KINDS[kind]} {family}".strip(), []).append(claim)
    return groups


def _family(name: str) -> str:
    """The family that a claim's name is about.

    >>> _family("carried ST[3] for A[5]"), _family("room for A[3]"), _family("order SA[2] before A[2] for A[2]")
    ('ST', 'A', 'SA before A')
    """
    words = name.split()
    about = words[2] if words[1] == "for" else words[1]
    reader = f" before {words[3].split('[')[0]}" if "before" in words else ""
    return about.split("[")[0] + reader


def _listed(title: str, claims: Sequence[Record], every: bool) -> Iterator[str]:
    if claims:
        yield ""
        yield f"{title}:"
    for verdict in ("REFUTED", "INCONCLUSIVE", "UNTESTED", "SUPPORTED"):
        for some in grouped([claim for claim in claims if claim["verdict"] == verdict]).values():
            shown = some if every else some[:_MOST_LISTED]
            for claim in shown:
                yield f"  {verdict:<12}  {claim['sentence']} {_sentence(claim['why'])}"
                yield from _evidence(claim)
            if len(shown) < len(some):
                yield f"  {verdict:<12}  ... and {len(some) - len(shown)} more like these; --all lists them"


def _least_sure(claims: Sequence[Record]) -> Iterator[str]:
    # Of each claim that something is carried the surest role, and of those the one that is least sure.
    shown = [[each for each in claim["evidence"] if "hit" in each] for claim in claims if claim["kind"] == "carried"]
    best = [max(roles, key=_confidence) for roles in shown if roles]
    if best:
        least = min(best, key=_confidence)
        yield ""
        yield f"Least sure of what supported claims rest on: {print_set(least)} {least['variable']}, {_hits(least)}"


def _evidence(claim: Record) -> Iterator[str]:
    for role in [each for each in claim["evidence"] if "hit" in each][:_MOST_EVIDENCE]:
        yield f"  {'':<12}    {role['nodes']}, {role['variable']}: {_hits(role)}"


def _sentence(why: str) -> str:
    return why[:1].upper() + why[1:] + "."


def _optional(claims: Sequence[Record]) -> Iterator[str]:
    families: dict[str, list[Record]] = {}
    for claim in claims:
        families.setdefault(_family(claim["claim"]), []).append(claim)
    if families:
        yield ""
        parts = [
            f"{name} {sum(c['verdict'] == 'SUPPORTED' for c in some)} of {len(some)}" for name, some in families.items()
        ]
        yield f"Seen, though not required: {', '.join(parts)}"


def _beyond(judgement: Record, every: bool) -> Iterator[str]:
    found = beyond_sentences(judgement)
    if found:
        yield ""
        yield "Found beyond what the hypothesis requires:"
    for title, sentences in found.items():
        yield f"  {title}: {len(sentences)}"
        shown = sentences if every else sentences[:_MOST_REFUTED]
        yield from (f"    {sentence}" for sentence in shown)
        if len(shown) < len(sentences):
            yield f"    ... and {len(sentences) - len(shown)} more; --all lists them"


def beyond_sentences(judgement: Record) -> dict[str, list[str]]:
    """What was found beyond what the hypothesis requires, by what it is; claims of earlier versions lack some of it."""
    found = {
        "sure roles of values it does not have": [
            f"{print_set(role)} {role['variable']}, {_hits(role)}" for role in judgement["unexplained"]
        ],
        "useful nodes that are in no role": [_loose(node) for node in judgement.get("nodes_without_role", ())],
        "sure roles that it does not require": [
            f"{print_set(role)} {role['variable']}, {_hits(role)}: {role['why']}"
            for role in judgement.get("not_asked_for", ())
        ],
    }
    return {title: sentences for title, sentences in found.items() if sentences}


def print_set(role: Record) -> str:
    """The nodes of a role as the start of a sentence.

    >>> print_set({"nodes": "P9L0H1"}), print_set({"nodes": "P9L0H1 + P9L0H2"})
    ('P9L0H1 carries', 'P9L0H1 + P9L0H2 carry')
    """
    return f"{role['nodes']} {'carry' if '+' in role['nodes'] else 'carries'}"


def _hits(role: Record) -> str:
    hit, null = role["hit"], role["null"]
    return f"hit {hit['hits']} of {hit['n']}, null {null['hits']} of {null['n']}, {confidence_said(role)}"


def confidence_said(role: Record) -> str:
    """The confidence of a role that was saved as evidence, in claims of earlier versions too."""
    return say_confidence(_confidence(role))


def _confidence(role: Record) -> float:
    hit, null = (Rate(role[name]["hits"], role[name]["n"]) for name in ("hit", "null"))
    return stated_confidence(hit, null, 1 + role["nodes"].count("+"))


def _loose(node: Record) -> str:
    worse = max((node["mean"], node["resample"]), key=lambda rate: rate["hits"])
    line = f"{node['node']} at {node['place']}: without it {_of(worse)} questions fail, with it {_of(node['clean'])}"
    if hidden := node.get("hidden_by"):
        line += f"; {_of(hidden['more'])} more with {hidden['nodes']} away too"
    named = [f"{what} {' '.join(node[what])}" for what in ("tokens", "classes") if node[what]]
    return line + (f" ({', '.join(named)})" if named else "")


def _of(rate: Record) -> str:
    return f"{rate['hits']} of {rate['n']}"


def _rival(rival: Record) -> Iterator[str]:
    told, refuted = rival["told_apart_by"], rival["refuted"]
    yield ""
    n_claims = sum(rival["required"].values())
    fares = claims_said(rival["skeleton"])
    yield f"Rival {rival['hypothesis']}: {fares}, {len(refuted)} of {n_claims} required claims refuted"
    for claim in refuted[:_MOST_REFUTED]:
        yield f"  {claim['sentence']} {_sentence(claim['why'])}"
    shares = f"{told['natural']:.1%} of natural and {told['enriched']:.1%} of enriched questions"
    yield f"  Answers differ in {shares}" + (f": {told['example']}" if told["example"] else "")
    if told["swapped"]:
        pair = f": {told['interchange_example']}" if told["interchange_example"] else ""
        share = told["interchange"]
        said = "tells nothing" if share is None else f"differs in {share:.1%} of pairs{pair}"
        yield f"  An interchange of {told['swapped']} {said}"
    if not (told["natural"] or told["enriched"] or told["interchange"]):
        yield "  No question tells them apart: only what is carried where, and in which order, does"
