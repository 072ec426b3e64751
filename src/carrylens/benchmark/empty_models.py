"""Nothing there: how often roles are found in models that have none.

Takes  models of which it is known that no node carries anything: untrained ones, and twins with shuffled weights.
Gives  how many roles were tested and how many confirmed, and in how many models any was, beside the stated level.
Never  leaves out a test: every node and every pair of heads of one layer at one place is asked, useful or not, and
       groups are searched for.

Here no node is useful, so a map of such a model would ask nothing. The roles of sets count as those of single nodes do:
one for each set, variable and token of the answer that was tested. Most tests end early: what hits in less than a
quarter of the pairs is not asked further, and only what hits clearly more often than its null gets a p value, on fresh
pairs. How many came so far is counted, since the others could not have been confirmed.
The level is that of the correction: of all roles confirmed in one family of tests, at most that share is false on
average. Where nothing is true, that is the chance of confirming any at all. Single nodes, pairs of heads and groups are
corrected apart, and in each swaps apart from shifts: up to six families, so the chance of any role in a model is at
most six times the level. That stands beside the share of models with any.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

from carrylens.arithmetic.algorithms import algorithm
from carrylens.arithmetic.model_shapes import config_of_width, digits_of
from carrylens.arithmetic.planted.planting import permuted_twin, plant
from carrylens.arithmetic.questions import Operation
from carrylens.arithmetic.zoo.model_facts import model_name
from carrylens.arithmetic.zoo.shipped import find_model, load
from carrylens.benchmark.method_result import Given
from carrylens.benchmark.method_runs import Work
from carrylens.benchmark.saved_results import Plain
from carrylens.discovery.near_misses import asked_about
from carrylens.discovery.node_map import Nodes, Role
from carrylens.discovery.node_search import MapSettings, asked_questions, find_carried
from carrylens.evidence.facts import Fact
from carrylens.evidence.rates import Rate
from carrylens.interventions.edits import swap
from carrylens.interventions.engine import Engine
from carrylens.model.transformer import Transformer
from carrylens.nodes import print_nodes
from carrylens.tasks.variables import Variable

UNTRAINED, PLANTED_TWIN, TRAINED_TWIN = "untrained", "twins of planted", "twins of trained"
TRAINED = "add_d6_l2_h3_w96_t3K_s1"
"""The shipped model whose twins are asked."""

FAMILIES = 6
"""Tests that are corrected apart: of single nodes, of pairs and of groups, by swaps and by shifts."""

_HOLD = 256 << 20  # bytes, as for a map


Asked = tuple[Nodes, Variable, int]
"""A set, a variable, and a token of the answer."""


@dataclass(frozen=True)
class Empty:
    """One model in which there is nothing to find."""

    kind: str
    name: str
    operation: Operation
    seed: int
    source: str = ""


@dataclass(frozen=True)
class Counted:
    """Every role that was tested in a model, and those confirmed; `right` says how many questions it answers right.

    `hit` are the tests that hit in as many of the finding pairs as a role must, `weighed` those that came to a p value.
    """

    tested: frozenset[Asked]
    hit: frozenset[Asked]
    weighed: frozenset[Asked]
    roles: tuple[Role, ...]
    right: Rate
    level: float


def empty_models(work: Work, n_untrained: int, n_trained: int) -> list[Empty]:
    """Untrained models of each operation in turn, a twin of each circuit of the work, twins of a trained model."""
    operations = list(Operation)
    found = [Empty(UNTRAINED, f"untrained_s{s}", operations[s % len(operations)], s) for s in range(n_untrained)]
    found += [Empty(PLANTED_TWIN, f"twin_{each.name}", each.operation, each.seed, each.name) for each in work.settings]
    name = model_name(find_model(TRAINED)) if n_trained else None
    return found + [
        Empty(TRAINED_TWIN, f"twin_{TRAINED}_{s}", name.operation, s, TRAINED) for s in range(n_trained) if name
    ]


def empty_records(work: Work, models: list[Empty]) -> Iterator[Plain]:
    """For each model how many roles were tested, and how many confirmed."""
    for at, model in enumerate(models):
        work.say(f"nothing there: {model.name}", at, len(models))
        about = work.about(model=model.name, seed=model.seed)
        kept = work.results.once(f"nothing_there/{model.name}", about, partial(_tested, work, model))
        yield {"part": "nothing there", "kind": model.kind, "model": model.name, **kept}


def empty_summary(records: list[Plain]) -> list[Plain]:
    """For each kind of model: roles confirmed of those weighed, models with any of all models, and the level."""
    rows = []
    for kind in dict.fromkeys(record["kind"] for record in records):
        some = [record for record in records if record["kind"] == kind]
        roles = Rate(sum(each["confirmed"] for each in some), sum(each["weighed"] for each in some))
        models = Rate(sum(each["confirmed"] > 0 for each in some), len(some))
        rates = {"roles": plain_rate(roles), "models": plain_rate(models)}
        level = some[0]["level"]
        stated: Plain = {name: sum(each[name] for each in some) for name in ("tested", "of_sets", "hit", "weighed")}
        stated |= {"level": level, "bound": min(1.0, FAMILIES * level)}
        rows.append({"part": "nothing there, summary", "kind": kind, **stated, **rates})
    return rows


def plain_rate(rate: Rate) -> Plain:
    """A rate as JSON has it, with its exact interval."""
    return {"hits": rate.hits, "n": rate.n, "interval": list(rate.interval)}


def count_roles(given: Given) -> Counted:
    """The roles of nodes and of sets that are tested in a model, and those that are confirmed."""
    facts: list[Fact] = []
    settings = MapSettings.chosen(given.seed, quick=given.quick)
    engine, causal = Engine(given.model, hold=_HOLD), given.causal
    asked = asked_questions(causal.operation, causal.digits, settings)
    answered = engine.run([swap((given.nodes[0],))], asked[0], asked[0])
    right = Rate(int((answered.clean_tokens == answered.right).all(-1).sum()), len(asked[0]))
    roles, _ = find_carried(
        engine, causal, given.nodes, asked, settings, store=given.store, watch=given.watch, note=facts.append
    )
    engine.close()
    finding = [fact for fact in facts if fact.about.get("split") == "find"]
    tested = frozenset(map(asked_about, finding))
    hit = frozenset(asked_about(fact) for fact in finding if fact.effect.value >= settings.roles.least_hit)
    weighed = frozenset(asked_about(fact) for fact in facts if fact.about.get("split") == "confirm")
    return Counted(tested, hit, weighed, tuple(roles), right, settings.roles.level)


def _tested(work: Work, empty: Empty) -> Plain:
    model = _model(work, empty)
    causal = algorithm(empty.operation, digits_of(model.config))

    def say(step: str, done: int, total: int) -> None:
        work.say(f"{empty.name}: {step}", done, total)

    counted = count_roles(Given(model, causal, empty.seed, work.quick, watch=say))
    found = sorted(f"{print_nodes(role.nodes)} {role.variable} token {role.token}" for role in counted.roles)
    n_sets = sum(len(nodes) > 1 for nodes, _, _ in counted.tested)
    counts = {"tested": len(counted.tested), "of_sets": n_sets, "confirmed": len(found)}
    counts |= {"hit": len(counted.hit), "weighed": len(counted.weighed)}
    return {**counts, "found": found, "level": counted.level}


def _model(work: Work, empty: Empty) -> Transformer:
    if empty.kind == UNTRAINED:
        return Transformer(config_of_width(3, n_layers=2, n_heads=3, width=48, seed=empty.seed)).eval()
    if empty.kind == TRAINED_TWIN:
        return permuted_twin(load(empty.source), empty.seed)
    setting = next(each for each in work.settings if each.name == empty.source)
    return permuted_twin(plant(setting.description).model, empty.seed)
