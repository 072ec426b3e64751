"""The rules: a verdict for each claim, and for all of them together.

Takes  claims, the record of a search, and thresholds.
Gives  a `Finding` for each; the verdict on the model that they come to.
Never  calls a claim supported that nothing could have refuted, a variable absent before backup nodes were searched for,
       or an output absent, which some component must write.

What counts: a role is sure if it is whole and surely above its null (`evidence/sureness.py`); partial roles support no
claim. Order is tested by withholding the part from the set that carries the whole, where the map has that; in maps of
earlier versions, by whether what each node of a set writes can be read by one of the other.

Of a model: it does not run the hypothesis if any required claim is refuted. It runs it if every required claim is
supported, except for those that say what must not be (apart), which may stay untested. Else it is not settled.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache

from msgspec import UNSET

from carrylens.claims.claims import Claim, ClaimKind
from carrylens.claims.hypothesis import Hypothesis
from carrylens.claims.search_record import SearchRecord
from carrylens.claims.structure import dependencies, follows
from carrylens.claims.thresholds import Thresholds
from carrylens.claims.verdicts import Finding, ModelVerdict, Verdict
from carrylens.discovery.node_map import NearMiss, Nodes, Role, Way
from carrylens.evidence.rates import Rate
from carrylens.evidence.sureness import moves_surely
from carrylens.nodes import Node, print_nodes, reaches
from carrylens.tasks.causal import CausalModel
from carrylens.tasks.grid import grid_of
from carrylens.tasks.samplers import population_of
from carrylens.tasks.task import Task
from carrylens.tasks.variables import Variable

_SHOWN = 3  # roles kept as evidence for a claim
_EVALUATED = 20_000  # questions on which an algorithm's own share of wrong answers is counted


def verdict_on_model(required: Iterable[tuple[ClaimKind, Verdict]]) -> ModelVerdict:
    """The one verdict that the required claims, each with its kind and verdict, come to."""
    judged = list(required)
    if any(verdict is Verdict.REFUTED for _, verdict in judged):
        return ModelVerdict.DOES_NOT_RUN
    needed = [verdict for kind, verdict in judged if kind is not ClaimKind.APART]
    is_there = needed and all(verdict is Verdict.SUPPORTED for verdict in needed)
    return ModelVerdict.RUNS if is_there else ModelVerdict.NOT_SETTLED


@dataclass(frozen=True, eq=False)
class Judge:
    """One hypothesis, judged on one search."""

    hypothesis: Hypothesis
    search: SearchRecord
    thresholds: Thresholds

    def find(self, claim: Claim) -> Finding:
        """The verdict of one claim."""
        judged = {
            ClaimKind.CARRIED: self._carried,
            ClaimKind.ORDER: self._order,
            ClaimKind.TIMELY: self._timely,
            ClaimKind.ROOM: self._room,
            ClaimKind.APART: self._apart,
            ClaimKind.ANSWERS: self._answers,
        }
        return judged[claim.kind](claim)

    def is_sure(self, role: Role) -> bool:
        """Whether a role is whole, and of this variable rather than of what comes with it."""
        return role.hit.interval[0] >= self.thresholds.whole_hit and self._moves(role)

    def _moves(self, found: Role | NearMiss) -> bool:
        # Whether it surely moves the output so, though perhaps in part.
        least, limits = self.thresholds.least_hit, self.thresholds
        p = found.p if isinstance(found, Role) else 0.0
        sure = moves_surely(found.hit, found.null, p, margin=limits.least_margin, level=limits.level)
        return sure and found.hit.interval[0] > least

    def _carried(self, claim: Claim) -> Finding:
        roles = [role for role in self._roles(claim) if self._stands_in(role.nodes, claim)]
        sure = [role for role in roles if self.is_sure(role)]
        if sure:
            what = f"{print_nodes(sure[0].nodes)} does, {_rates(sure[0])}"
            return Finding(claim, Verdict.SUPPORTED, what + _others(len(sure) - 1), tuple(sure[:_SHOWN]))
        if roles:
            return Finding(claim, Verdict.INCONCLUSIVE, _in_part(roles[0]), tuple(roles[:_SHOWN]))
        return self._missing(claim)

    def _missing(self, claim: Claim) -> Finding:
        assert claim.variable is not None
        n_pairs = self.search.n_visible(self.hypothesis.model, claim.variable, claim.token)
        if n_pairs is None or n_pairs == 0:
            return Finding(claim, Verdict.UNTESTED, "the search had no pair of questions that could have shown it")
        if not claim.positions:
            return Finding(claim, Verdict.REFUTED, "there is no place at which it is known and still of use")
        elsewhere = self._sure(claim.variable, claim.token)
        where = f"; it is carried elsewhere, by {print_nodes(elsewhere[0].nodes)}" if elsewhere else ""
        if n_pairs < self.thresholds.least_searched:
            why = f"not found, but only {n_pairs} pairs could have shown it{where}"
            return Finding(claim, Verdict.INCONCLUSIVE, why, tuple(elsewhere[:_SHOWN]))
        if not self.search.groups:
            why = f"no single node does, on {n_pairs} pairs that could show it; groups were not searched{where}"
            return Finding(claim, Verdict.INCONCLUSIVE, why, tuple(elsewhere[:_SHOWN]))
        if finer := self._finer(claim):
            named = f"{print_nodes(finer[0].nodes)} carries {finer[0].variable}"
            why = f"it was not found by itself, but {named}, from which it follows"
            return Finding(claim, Verdict.INCONCLUSIVE, why, tuple(finer[:_SHOWN]))
        if claim.variable in self.hypothesis.model.outputs and not elsewhere:
            why = (
                f"no component was found to write it, on {n_pairs} pairs; some component does where the answer is right"
            )
            return Finding(claim, Verdict.INCONCLUSIVE, why)
        if near := self._near_miss(claim):
            why = f"{print_nodes(near.nodes)} moves it so, {_rates(near)}, but was ruled out by another variable"
            return Finding(claim, Verdict.INCONCLUSIVE, f"{why} where the two differ; it may carry both in one write")
        why = f"no node or group does, on {n_pairs} pairs that could show it{where}"
        if self.search.n_confirm < self.thresholds.least_confirmed and not elsewhere:
            why += f"; found sets were confirmed on {self.search.n_confirm}, too few to say that no component does"
            return Finding(claim, Verdict.INCONCLUSIVE, why)
        return Finding(claim, Verdict.REFUTED, why, tuple(elsewhere[:_SHOWN]))

    def _finer(self, claim: Claim) -> list[Role]:
        # Roles at a valid place of a variable that says more: its carrier has what was claimed, or more than that.
        assert claim.variable is not None
        mine, model = self.search.causal, self.hypothesis.model
        place = None if claim.token is None else mine.outputs.index(claim.token)
        return [
            role
            for role in self.search.found.roles
            if place in (None, role.token) and self._stands_in(role.nodes, claim) and self.is_sure(role)
            if follows(model, claim.variable, mine, role.variable)
        ]

    def _near_miss(self, claim: Claim) -> NearMiss | None:
        # One at a valid place that surely moved the output as the variable would, and was ruled out by another.
        assert claim.variable is not None
        for each in self.search.near_misses(self.hypothesis.model, claim.variable, claim.token):
            if self._stands_in(each.nodes, claim) and self._moves(each):
                return each
        return None

    def _order(self, claim: Claim) -> Finding:
        assert claim.variable is not None
        assert claim.reader is not None
        parts, wholes = self._sure(claim.variable, claim.token), self._sure(claim.reader, claim.token)
        for variable, roles in ((claim.variable, parts), (claim.reader, wholes)):
            if not roles:
                why = f"nothing was surely found to carry {variable} for {claim.token}, so there is no order to see"
                return Finding(claim, Verdict.INCONCLUSIVE, why)
        if withheld := self._withheld(claim, parts, wholes):
            return withheld
        ordered = [(part, whole) for part in parts for whole in wholes if reaches(part.nodes, whole.nodes)]
        apart = [(p, w) for p in parts for w in wholes if not set(p.nodes) & set(w.nodes)]
        part, whole = (ordered or apart or [(parts[0], wholes[0])])[0]
        named = (print_nodes(part.nodes), print_nodes(whole.nodes))
        if ordered:
            return Finding(claim, Verdict.SUPPORTED, f"{named[0]} comes before {named[1]}", (part, whole))
        if not apart:
            why = f"{named[0]} and {named[1]}, which carry the two, have nodes in common, so there is no order to see"
            return Finding(claim, Verdict.INCONCLUSIVE, why, (part, whole))
        sure = [(p, w) for p, w in apart if self._is_exact(p) and self._is_exact(w) and len(w.nodes) == 1]
        if not sure:
            why = f"{named[0]} cannot reach {named[1]}, which may hold the parts of {claim.reader} separately"
            return Finding(claim, Verdict.INCONCLUSIVE, why, (part, whole))
        part, whole = sure[0]
        named = (print_nodes(part.nodes), print_nodes(whole.nodes))
        why = f"{named[0]} carries {claim.variable} and cannot reach {named[1]}, which carries {claim.reader}"
        return Finding(claim, Verdict.REFUTED, why, (part, whole))

    def _withheld(self, claim: Claim, parts: list[Role], wholes: list[Role]) -> Finding | None:
        # What withholding the part from the whole did; None where the search did not try it for these.
        assert claim.variable is not None
        assert claim.reader is not None
        senders, readers = ({role.nodes: role for role in roles} for roles in (parts, wholes))
        tried = [
            each
            for each in self.search.orders(self.hypothesis.model, claim.variable, claim.reader, claim.token)
            if each.part in senders and each.whole in readers
        ]
        if not tried:
            return None
        best = max(tried, key=lambda each: each.free.interval[0] - each.held.interval[1])
        named, roles = (print_nodes(best.part), print_nodes(best.whole)), (senders[best.part], readers[best.whole])
        rates = f"{claim.token} follows in {best.free.hits} of {best.free.n}, and in {best.held.hits} of {best.held.n}"
        why = f"{rates} when what {named[0]} writes is withheld from {named[1]}"
        if best.free.interval[0] - best.held.interval[1] >= self.thresholds.least_margin:
            return Finding(claim, Verdict.SUPPORTED, why, roles)
        return Finding(claim, Verdict.INCONCLUSIVE, f"{why}: another way leads round it", roles)

    def _timely(self, claim: Claim) -> Finding:
        assert claim.variable is not None
        is_output = claim.variable in self.search.causal.outputs  # once fed back, it can be read at once
        roles = self._sure(claim.variable, claim.variable if is_output else None)
        late = [role for role in roles if not self._stands_in(role.nodes, claim) or self._is_early(role, claim)]
        if late:
            where = (
                "at a place it may not be" if depth(late[0].nodes) >= claim.steps else "before its parts can be there"
            )
            why = f"{print_nodes(late[0].nodes)} carries it {where}, {_rates(late[0])}"
            return Finding(claim, Verdict.REFUTED, why, tuple(late[:_SHOWN]))
        if not roles:
            return Finding(claim, Verdict.INCONCLUSIVE, "nothing was surely found to carry it")
        sets = len({role.nodes for role in roles})
        return Finding(claim, Verdict.SUPPORTED, f"all {sets} that carry it do", tuple(roles[:_SHOWN]))

    def _is_early(self, role: Role, claim: Claim) -> bool:
        # Several nodes together, or one that carries them separately, may have all the parts, which an interchange
        # cannot tell from the whole; what no question told from the variable may be what the node has; and where the
        # null moves, too, the node may read something else, such as an output that reveals the variable.
        if len(role.nodes) > 1 or depth(role.nodes) >= claim.steps or not self._is_exact(role):
            return False
        # A head that attends to all inputs of one index brings all that there is to know.
        causal = self.search.causal
        return depth(role.nodes) > 0 or len(grid_of(causal).indices_of(dependencies(causal, role.variable))) > 1

    def _is_exact(self, role: Role) -> bool:
        # Whether it can be nothing but this variable that moves the output, and the whole of it: not what no question
        # told from it, nor parts of it that the nodes carry separately.
        if role.same_as or role.null.interval[1] > self.thresholds.most_null:
            return False
        parts = self.search.causal.ancestors(role.variable)
        others = (each for each in self.search.found.roles if each.variable in parts)
        has_parts = any((each.nodes, each.token) == (role.nodes, role.token) for each in others)
        return role.hit.interval[0] >= self.thresholds.whole_hit and not has_parts

    def _room(self, claim: Claim) -> Finding:
        found, n_needed = self.search.found, claim.steps + 1
        has_mlp = None in found.layer_parts
        n_there = found.n_layers * (1 + has_mlp)
        layers = "1 layer has" if found.n_layers == 1 else f"{found.n_layers} layers have"
        why = f"{layers} {n_there} one after another, {n_needed} are needed"
        if n_there >= n_needed or has_mlp:
            return Finding(claim, Verdict.SUPPORTED if n_there >= n_needed else Verdict.REFUTED, why)
        # Heads alone may leave the last of them to the unembedding.
        verdict = Verdict.INCONCLUSIVE if n_there + 1 == n_needed else Verdict.REFUTED
        return Finding(claim, verdict, f"{why}, and there are no MLPs")

    def _apart(self, claim: Claim) -> Finding:
        assert claim.token is not None
        model = self.search.causal
        place = model.outputs.index(claim.token)
        foreign = {variable for variable in model.by_variable if _lies_in(indices_of(model, variable), claim.indices)}
        roles = [role for role in self.search.found.roles if role.token == place]
        moving = [role for role in roles if foreign.issuperset((role.variable, *role.same_as))]
        sure = sorted(filter(self._moves, moving), key=lambda role: -role.hit.interval[0])
        if sure:
            why = f"{print_nodes(sure[0].nodes)} carries {sure[0].variable} for it, {_rates(sure[0])}"
            return Finding(claim, Verdict.REFUTED, why, tuple(sure[:_SHOWN]))
        shown = [self.search.n_visible(model, variable, claim.token) or 0 for variable in foreign]
        n_pairs = max(shown, default=0)
        if not n_pairs:
            return Finding(claim, Verdict.UNTESTED, "the search had no pair of questions that could have shown it")
        if n_pairs < self.thresholds.least_searched or not self.search.groups:
            why = f"nothing surely moves it, on {n_pairs} pairs; that is too few, or groups were not searched"
            return Finding(claim, Verdict.INCONCLUSIVE, why)
        return Finding(claim, Verdict.SUPPORTED, f"no node or group does, on up to {n_pairs} pairs for each value")

    def _answers(self, claim: Claim) -> Finding:
        wrong = max((each.clean for each in self.search.found.nodes), key=lambda rate: rate.n, default=Rate(0, 0))
        if not wrong.n:
            return Finding(claim, Verdict.UNTESTED, "the map does not say how the model answers without intervention")
        same = self.search.evaluated if self.search.evaluated and self.search.evaluated[1] == wrong.n else None
        task, model = self.search.found.task, self.hypothesis.model
        expected = wrong_share(task, model, self.search.sampler, *(same or (0, _EVALUATED)))
        low, high = wrong.interval
        whose = "the same" if same else self.search.sampler
        why = f"wrong {wrong}, and the algorithm in {expected:.1%} of {whose} questions"
        apart = self.thresholds.answers_apart
        if _differ(wrong, expected, apart) if same else low > expected + apart or high < expected - apart:
            return Finding(claim, Verdict.REFUTED, why, rate=wrong)
        near = max(abs(low - expected), abs(high - expected)) <= self.thresholds.answers_near
        return Finding(claim, Verdict.SUPPORTED if near else Verdict.INCONCLUSIVE, why, rate=wrong)

    def _stands_in(self, nodes: Nodes, claim: Claim) -> bool:
        # The last to know it stands at a valid place; where the hypothesis names places, all of them do.
        assert claim.variable is not None
        places = [node.position for node in nodes]
        named = claim.variable.name in self.hypothesis.places
        return set(places if named else [max(places)]).issubset(claim.positions)

    def _roles(self, claim: Claim) -> list[Role]:
        assert claim.variable is not None
        return self.search.carriers(self.hypothesis.model, claim.variable, claim.token)

    def _sure(self, variable: Variable, token: Variable | None) -> list[Role]:
        return [role for role in self.search.carriers(self.hypothesis.model, variable, token) if self.is_sure(role)]


def depth(nodes: Iterable[Node]) -> int:
    """How many nodes can have come before the last of these, one after another."""
    return max(2 * node.layer + node.is_mlp for node in nodes)


def indices_of(model: CausalModel, variable: Variable) -> frozenset[int]:
    """The indices of the inputs that a variable depends on."""
    return frozenset(grid_of(model).indices_of(model.inputs_of(variable)))


@cache
def wrong_share(task: Task, model: CausalModel, sampler: str, seed: int = 0, count: int = _EVALUATED) -> float:
    """The share of the first questions of a population that an algorithm answers wrong.

    `sampler` names one of the task's samplers; any other name stands for the population of the task's causal model.

    >>> from carrylens.arithmetic import Operation
    >>> from carrylens.arithmetic.task import arithmetic_task
    >>> addition = arithmetic_task(Operation.ADD, 3)
    >>> wrong_share(addition, addition.causal, "enriched")
    0.0
    """
    questions = task.samplers.get(sampler, population_of(task.causal)).draw(seed, 0, count)
    return float((model.output_values(questions) != task.right_outputs(questions)).any(axis=1).mean())


def _differ(wrong: Rate, expected: float, apart: float) -> bool:
    # On the same questions nothing is left to the draw. The model is right on at least so many of those that the
    # algorithm fails, or wrong on so many of the others: too many for one that errs now and then.
    n_fails = round(expected * wrong.n)
    right, lost = Rate(max(0, n_fails - wrong.hits), n_fails), Rate(max(0, wrong.hits - n_fails), wrong.n - n_fails)
    return any(each.n > 0 and each.interval[0] > apart for each in (right, lost))


def _lies_in(indices: frozenset[int], others: frozenset[int]) -> bool:
    return bool(indices) and indices <= others


def _rates(role: Role | NearMiss) -> str:
    how = "superposed with others, " if isinstance(role, Role) and role.way is Way.DIFFERENCE else ""
    return f"{how}hit {role.hit.hits} of {role.hit.n}, null {role.null.hits} of {role.null.n}"


def _in_part(role: Role) -> str:
    # How much of its variable the best partial carrier has, and where it fails.
    low, high = role.hit.interval
    fails = f"; {role.fails}" if role.fails is not UNSET else "; backup nodes may do the rest"
    share = f"{print_nodes(role.nodes)} in {role.hit.value:.0%} of pairs [{low:.2f}, {high:.2f}]"
    return f"only in part: {share}, {_rates(role)}{fails}"


def _others(count: int) -> str:
    return f"; {count} more" if count > 0 else ""
