"""A role's confidence where users see it: the map, its JSON, the judgement and the page; without PyTorch."""

from __future__ import annotations

from dataclasses import replace

import pytest

from carrylens.arithmetic import Operation
from carrylens.arithmetic.hypotheses import left_to_right
from carrylens.claims.judgement import judge
from carrylens.discovery.node_map import NodeMap
from carrylens.evidence.confidence import say_confidence, shipped_confidence, stated_confidence
from carrylens.evidence.rates import Rate
from carrylens.report.page.effects import confidence_in, effect_of_role
from carrylens.report.terminal.claims import claim_lines
from carrylens.report.terminal.map import map_record, role_lines
from claims.maps import left_to_right_map, with_roles


@pytest.fixture(scope="module")
def found() -> NodeMap:
    return left_to_right_map(Operation.ADD, 3)


def test_what_is_shown_is_what_the_shipped_rule_states(found: NodeMap) -> None:
    role = found.roles[0]
    stated = shipped_confidence().of(role.hit, role.null)
    assert stated_confidence(role.hit, role.null) == pytest.approx(stated, abs=1e-4)
    assert map_record(found)["roles"][0]["confidence"] == pytest.approx(stated, abs=1e-4)
    assert confidence_in(effect_of_role(role)) == say_confidence(stated).split()[1]


def test_every_line_of_the_map_has_a_confidence_and_a_weaker_role_a_lower_one(found: NodeMap) -> None:
    weak = with_roles(found, lambda role: replace(role, hit=Rate(2, 6), null=Rate(1, 6)))
    strong_lines, weak_lines = ([str(line) for line in role_lines(each)][1:] for each in (found, weak))
    shown = [{line.rsplit("confidence ", 1)[1][:4] for line in lines} for lines in (strong_lines, weak_lines)]
    assert len(strong_lines) == len(weak_lines) > 5
    assert max(shown[1]) < min(shown[0])


def test_a_judgement_says_how_sure_its_evidence_is(found: NodeMap) -> None:
    record = judge(found, left_to_right(Operation.ADD, 3)).record()
    evidence = [each for claim in record["claims"] for each in claim["evidence"] if "hit" in each]
    assert evidence
    assert all(0.5 < each["confidence"] < 1.0 for each in evidence)
    short, whole = ([*claim_lines(record, every)] for every in (False, True))
    (least,) = (line for line in short if line.startswith("Least sure"))
    assert "confidence 0.9" in least
    assert sum("confidence 0." in line for line in whole) > len(record["claims"]) // 2
    for each in evidence:
        del each["confidence"]
    assert [*claim_lines(record, True)] == whole  # claims of earlier versions have none, and are shown alike


def test_nothing_that_is_not_sure_looks_so() -> None:
    assert say_confidence(0.99999) == "confidence 0.99"
    assert say_confidence(0.29) == "confidence 0.29"
