"""Optional roles: variables that are declared though no output depends on them, and that nodes may carry all the same.

Takes  a search context, sets of nodes, and the roles that were found.
Gives  roles of such variables, each with the variable by which it is read (`tasks/optional_pairs.py`).
Never  grants one to a set that carries all of the variable by which it is read, or the output itself.

Sets are found on some pairs and confirmed on others, with p corrected for all that are confirmed. The null are pairs in
which the optional variable agrees, and the one by which it is read differs and would show.
"""

from __future__ import annotations

from collections.abc import Sequence

from carrylens.discovery.interchange_outcomes import InterchangeRates, Stimuli, rate_steps
from carrylens.discovery.node_map import Nodes, Role
from carrylens.discovery.roles import able_sets
from carrylens.discovery.search import SearchContext
from carrylens.discovery.stimulus_spec import Split
from carrylens.evidence.corrections import benjamini_yekutieli
from carrylens.evidence.facts import Fact
from carrylens.evidence.rates import p_above
from carrylens.evidence.sureness import extent_of
from carrylens.interventions.waves import Steps
from carrylens.nodes import print_nodes
from carrylens.tasks.optional_pairs import OptionalClaim, optional_claims, optional_pairs

_MOVES = 0.05  # how much more often than the optional role's null one must surely move to be explained by it


def find_optional(search: SearchContext, sets: Sequence[Nodes], roles: Sequence[Role]) -> list[Role]:
    """The optional roles of sets, and of those that have a role of a variable by which one is read."""
    claims, steps = list(optional_claims(search.causal)), []
    for claim in claims:
        token = search.causal.outputs.index(claim.output)
        held = [role.nodes for role in roles if (role.variable, role.token) == (claim.read_as, token)]
        made = {role.nodes for role in roles if role.is_whole and (role.variable, role.token) == (claim.output, token)}
        able = able_sets(search.causal, search.layout, claim.variable, list(dict.fromkeys([*sets, *held])), token)
        able = [nodes for nodes in able if nodes not in made]
        steps.append(_found(search, claim, able))
    measured: list[tuple[OptionalClaim, InterchangeRates]] = []
    for claim, (rates, facts) in zip(claims, search.together(steps, "finding optional roles"), strict=True):
        measured += [(claim, each) for each in rates]
        for fact in facts:
            search.note(fact)
    corrected, settings = benjamini_yekutieli([p_above(each.hit, each.null) for _, each in measured]), search.settings
    return [
        Role(
            each.nodes,
            claim.variable,
            each.token,
            each.hit,
            each.null,
            p,
            extent=extent_of(each.hit),
            read_as=claim.read_as,
        )
        for (claim, each), p in zip(measured, corrected, strict=True)
        if p <= settings.level and each.hit.value >= settings.least_share and settings.least_hit > each.null.value
    ]


def _found(
    search: SearchContext, claim: OptionalClaim, sets: list[Nodes]
) -> Steps[tuple[list[InterchangeRates], list[Fact]]]:
    # What was found, then confirmed; and the facts.
    settings, facts, rates = search.settings, list[Fact](), list[InterchangeRates]()
    token = search.causal.outputs.index(claim.output)
    for split in (Split.FIND, Split.CONFIRM):
        spec = settings.stimuli(split)
        pairs = optional_pairs(search.causal, claim, spec.count, spec.seed)
        if pairs is None or not sets or min(map(len, pairs)) < settings.least:
            return [], facts
        stimuli = Stimuli(search.task, claim.read_as, *pairs, spec.count, spec.seed, token)
        rates = yield from rate_steps(sets, stimuli, 1, settings.least_hit if split is Split.FIND else 0.0)
        about = {"variable": str(claim.variable), "read_as": str(claim.read_as), "token": token, "split": split.value}
        drawn = {"pairs": spec.count, "seed": spec.seed}
        for each in rates:
            facts.append(Fact("optional", {"nodes": print_nodes(each.nodes), **about}, each.hit, each.null, drawn))
        high = [each for each in rates if each.hit.value >= settings.least_hit]
        sets = [each.nodes for each in high if p_above(each.hit, each.null) <= settings.find_level]
    return rates, facts


def without_explained(roles: Sequence[Role], optional: Sequence[Role]) -> list[Role]:
    """The roles without those whose null surely moves, where an optional role of the set says when, and hits as often.

    Such a set carries the optional variable instead, as one does that knows only its own column's carry.
    """
    return [role for role in roles if not any(_explains(each, role) for each in optional)]


def _explains(optional: Role, role: Role) -> bool:
    same = (optional.nodes, optional.token) == (role.nodes, role.token)
    moves = role.null.interval[0] > optional.null.value + _MOVES
    return same and moves and optional.hit.value >= role.hit.value
