"""Claims of a task that is not arithmetic: derived, supported by the truth, and refuted by lies."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from carrylens.arithmetic.hypotheses import left_to_right
from carrylens.arithmetic.questions import Operation
from carrylens.claims.claims import ClaimKind, claims_of
from carrylens.claims.hypothesis import Hypothesis
from carrylens.claims.hypothesis_file import own_hypothesis
from carrylens.claims.judgement import Judgement, judge
from carrylens.claims.rival_contrast import contrast_rivals
from carrylens.claims.rules import wrong_share
from carrylens.claims.search_record import SearchRecord
from carrylens.claims.verdicts import ModelVerdict, Verdict
from carrylens.discovery.node_map import NodeMap
from carrylens.errors import CarryLensError
from carrylens.evidence.rates import Rate
from carrylens.nodes import Node
from carrylens.tasks.samplers import Uniform
from carrylens.tasks.variables import Variable
from claims.walks import (
    DBL,
    FLIP,
    POS,
    REQUIRED,
    SIDE,
    S,
    X,
    stated,
    walk,
    walk_hypothesis,
    walk_map,
    walk_task,
    without,
)

SHORT_SIGHTED = walk("short-sighted", stated(S[1], (X[1],), lambda x: x))
ANOTHER_RING = walk("another ring", stated(S[1], (DBL[0], X[1]), lambda doubled, x: (3 * doubled + x) % 7))


@pytest.fixture(scope="module")
def found() -> NodeMap:
    return walk_map()


def verdicts(judgement: Judgement) -> dict[str, Verdict]:
    return {each.claim.name: each.verdict for each in judgement.findings}


def test_claims_follow_from_the_causal_model_and_the_layout() -> None:
    claims = {claim.name: claim for claim in claims_of(walk_hypothesis(), walk_task().layout)}
    assert len(claims) == len(claims_of(walk_hypothesis(), walk_task().layout))
    assert claims["carried S[1] for POS"].positions == (1, 2, 3, 4, 5), "from X1 to where POS is predicted"
    assert claims["carried SIDE for SIDE"].positions == (2, 3, 4)
    assert (claims["room for POS"].steps, claims["timely S[2]"].steps) == (3, 2)
    assert {"order DBL[0] before S[1] for SIDE", "order S[2] before POS for POS"} <= set(claims)
    assert not [name for name in claims if "FLIP" in name or name.startswith("apart")]


def test_the_truth_is_supported(found: NodeMap) -> None:
    judgement = judge(found, walk_hypothesis())
    assert set(verdicts(judgement).values()) == {Verdict.SUPPORTED}
    assert judgement.verdict is ModelVerdict.RUNS
    assert not judgement.unclaimed.nodes
    assert not judgement.unclaimed.roles
    assert not judgement.unexplained


def test_a_variable_that_nothing_carries_is_refuted(found: NodeMap) -> None:
    judgement = judge(without(found, S[1]), walk_hypothesis())
    assert verdicts(judgement)["carried S[1] for POS"] is Verdict.REFUTED
    assert verdicts(judgement)["carried S[2] for POS"] is Verdict.SUPPORTED
    assert judgement.verdict is ModelVerdict.DOES_NOT_RUN


def test_a_variable_carried_too_early_is_refuted(found: NodeMap) -> None:
    early = {S[2]: (Node(2, 0, 0),)}
    roles = tuple(replace(each, nodes=early.get(each.variable, each.nodes)) for each in found.roles)
    judged = verdicts(judge(replace(found, roles=roles), walk_hypothesis()))
    assert judged["timely S[2]"] is judged["order S[1] before S[2] for POS"] is Verdict.REFUTED


def test_a_wrong_algorithm_is_refuted_by_its_answers_and_by_inputs_that_it_does_not_read(found: NodeMap) -> None:
    judgement = judge(found, walk_hypothesis(SHORT_SIGHTED))
    judged = verdicts(judgement)
    assert judged["answers"] is judged["apart for POS"] is Verdict.REFUTED
    assert {each.variable for each in judgement.unexplained} == {S[1], S[2]}
    assert {each.variable for each, _ in judgement.unclaimed.roles} == {DBL[0]}, "stated, but no output depends on it"
    assert judge(found, walk_hypothesis(ANOTHER_RING)).verdict is ModelVerdict.DOES_NOT_RUN


def test_the_share_of_wrong_answers_is_counted_on_the_tasks_own_questions(found: NodeMap) -> None:
    task, wrong = found.task, wrong_share(found.task, SHORT_SIGHTED, "all")
    assert wrong == pytest.approx(6 / 7, abs=0.02)
    nodes = tuple(replace(each, clean=Rate(round(96 * wrong), 96)) for each in found.nodes)
    judged = verdicts(judge(replace(found, nodes=nodes), walk_hypothesis()))
    assert judged["answers"] is Verdict.REFUTED
    assert wrong_share(task, task.causal, "all") == 0


def test_rivals_are_told_apart_by_questions_of_the_task() -> None:
    task = walk_task()
    told = contrast_rivals(task, task.causal, ANOTHER_RING)
    assert told.natural == pytest.approx(6 / 7, abs=0.02)
    assert told.example.count(task.causal.name) == told.example.count(ANOTHER_RING.name) == 1
    assert "DBL[0]" in told.swapped
    assert told.interchange is not None
    assert told.interchange > 0.5


def test_an_output_that_is_fed_back_is_read_and_one_that_is_not_must_be_carried() -> None:
    from_side = stated(POS, (SIDE, S[2]), lambda side, place: np.where(side == 1, place, 0))
    names = {}
    for fed_back in (True, False):
        model = walk("from side", from_side, fed_back=fed_back)
        claims = claims_of(walk_hypothesis(model), walk_task(model).layout)
        names[fed_back] = {claim.name for claim in claims}
    assert "carried SIDE for POS" not in names[True]
    assert {"carried SIDE for POS", "order SIDE before POS for POS", "order S[2] before SIDE for POS"} <= names[False]


def test_what_a_gate_switches_on_is_not_required_beforehand() -> None:
    gated = walk("gated", stated(POS, (FLIP, S[2]), lambda flip, place: np.where(flip == 1, place, 0)))
    layout = walk_task(gated).layout
    plain, with_gate = Hypothesis("plain", gated, REQUIRED), Hypothesis("gated", gated, REQUIRED, gates=(FLIP,))
    names = [{claim.name for claim in claims_of(each, layout)} for each in (plain, with_gate)]
    assert {"carried S[2] for POS"} <= names[0] - names[1]
    assert "carried S[2] for SIDE" in names[1], "SIDE reads it whatever the gate says"
    assert "carried S[1] for POS" in names[1]
    flipped = replace(walk_hypothesis(), gates=(FLIP,))
    assert claims_of(flipped, layout) == claims_of(walk_hypothesis(), layout), "POS reads S[2] at both values"


def test_a_folded_family_is_required_only_where_it_is_read() -> None:
    layout = walk_task().layout
    names = {claim.name for claim in claims_of(replace(walk_hypothesis(), folded=("S",)), layout)}
    assert "carried S[2] for POS" in names
    assert "carried S[1] for POS" not in names
    assert "order DBL[0] before S[2] for POS" in names


def test_places_are_those_of_the_layout(found: NodeMap) -> None:
    late = replace(walk_hypothesis(), name="late", places={"S": lambda _: ["flip", "="]})
    assert verdicts(judge(found, late))["timely S[1]"] is Verdict.REFUTED
    own = replace(walk_hypothesis(), name="own", places={"S": lambda k: [f"X{k}"]})
    assert judge(found, own).verdict is ModelVerdict.RUNS
    strange = replace(walk_hypothesis(), name="strange", places={"S": lambda _: ["D'0"]})
    with pytest.raises(CarryLensError, match="D'0"):
        judge(found, strange)


@pytest.mark.parametrize("gate", [X[0], SIDE, S[1]])
def test_only_an_input_without_an_index_is_a_gate(gate: Variable) -> None:
    with pytest.raises(CarryLensError, match="FLIP"):
        replace(walk_hypothesis(), gates=(gate,))


def test_a_hypothesis_about_other_inputs_outputs_or_questions_is_refused(found: NodeMap) -> None:
    with pytest.raises(CarryLensError, match=r"D\[1\]"):
        judge(found, left_to_right(Operation.ADD, 2))
    fewer = replace(walk(), outputs=(SIDE,))
    with pytest.raises(CarryLensError, match="POS"):
        judge(found, walk_hypothesis(fewer))
    never_flipped = replace(walk(), fixed=((FLIP, 0),))
    with pytest.raises(CarryLensError, match=found.task.name):
        judge(found, walk_hypothesis(never_flipped))


def test_variables_are_matched_on_the_same_questions_whatever_population_a_hypothesis_has(found: NodeMap) -> None:
    other = Uniform(tuple((each, walk().values_of(each)[::-1]) for each in walk().inputs))
    judgement = judge(found, walk_hypothesis(replace(walk(), population=other)))
    assert judgement.verdict is ModelVerdict.RUNS
    assert not judgement.unexplained


def test_an_earlier_output_hides_a_later_one_only_where_it_is_fed_back(found: NodeMap) -> None:
    counts = []
    for fed_back in (True, False):
        model = walk(fed_back=fed_back)
        search = SearchRecord(replace(found, task=walk_task(model), causal=model))
        counts.append([search.n_visible(model, S[2], output) or 0 for output in model.outputs])
    assert counts[0][0] == counts[1][0]
    assert 0 < counts[0][1] < counts[1][1] == 48, "every pair shows in POS, some in SIDE before it"


def test_a_map_of_a_users_own_variables_is_judged_by_them(found: NodeMap) -> None:
    """The place after two steps, counted backwards, is no variable of the task; a map made for it has its roles."""
    backwards = walk(
        "backwards",
        (
            *stated(S[1], (DBL[0], X[1]), lambda doubled, x: -(doubled + x) % 7),
            *stated(S[2], (S[1], X[2]), lambda place, x: (x - place) % 7),
        ),
    )
    mine = walk_hypothesis(backwards)
    assert verdicts(judge(found, mine))["carried S[1] for POS"] is Verdict.UNTESTED, "no question was drawn for it"
    assert judge(replace(found, causal=backwards), mine).verdict is ModelVerdict.RUNS


FILE = """
from claims.walks import walk_hypothesis

def hypothesis(task):
    return walk_hypothesis(task.causal)
"""


def test_a_file_states_a_hypothesis_for_any_task(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(FILE)
    assert own_hypothesis(tmp_path / "mine.py", walk_task()).required == REQUIRED
    (tmp_path / "mine.py").write_text(FILE.replace("(task)", "(operation, digits)"))
    with pytest.raises(CarryLensError, match="walks"):
        own_hypothesis(tmp_path / "mine.py", walk_task())


def test_a_value_that_a_family_does_not_have_is_named(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(
        "from claims.walks import *\n"
        "def hypothesis(task):\n"
        "    return walk_hypothesis(walk('odd', stated(S[1], (X[1],), lambda x: x + 5)))\n"
    )
    with pytest.raises(CarryLensError, match=r"S\[1\].* 7 "):
        own_hypothesis(tmp_path / "mine.py", walk_task())


ALONE = """
import importlib, pkgutil, sys
class Refuse:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] == "torch" or name.startswith("carrylens.arithmetic"):
            raise ImportError(name + " is not to be imported")
sys.meta_path.insert(0, Refuse())
import carrylens.claims
for each in pkgutil.iter_modules(carrylens.claims.__path__):
    importlib.import_module("carrylens.claims." + each.name)
"""


@pytest.mark.parametrize(("more", "code"), [("", 0), ("import torch", 1), ("import carrylens.arithmetic", 1)])
def test_claims_import_neither_torch_nor_arithmetic(more: str, code: int) -> None:
    done = subprocess.run([sys.executable, "-c", ALONE + more], capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == code, done.stderr


def test_every_kind_of_claim_is_seen_in_a_task_that_is_not_arithmetic() -> None:
    claims = [*claims_of(walk_hypothesis(), walk_task().layout)]
    claims += claims_of(walk_hypothesis(SHORT_SIGHTED), walk_task().layout)
    assert {claim.kind for claim in claims} == set(ClaimKind)
