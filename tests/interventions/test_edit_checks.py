"""An edit that cannot be made on a model, or with what was given, is an error and not a no-op."""

from __future__ import annotations

import copy
import math
import re
from typing import Any

import numpy as np
import pytest
import torch

from carrylens.arithmetic import Questions
from carrylens.arithmetic.exam_parts import exam_parts
from carrylens.arithmetic.model_shapes import arithmetic_config
from carrylens.arithmetic.questions import Operation
from carrylens.arithmetic.task import arithmetic_task
from carrylens.errors import CarryLensError
from carrylens.interventions import (
    Edit,
    Engine,
    ablate,
    add_direction,
    edge,
    interchange,
    interpolate,
    keep_only,
    patch_difference,
    project,
)
from carrylens.interventions.edits import Add, Edge, Fill, KeepOnly, Replace
from carrylens.interventions.sites import parse_receivers, parse_sites
from carrylens.model import Transformer
from carrylens.model.decoding import decode_outputs
from carrylens.nodes import Node, all_nodes
from carrylens.training.exam import blank_results, sit
from interventions.random_edits import random_model

CONFIG = arithmetic_config(digits=2, n_layers=2, n_heads=2, d_model=6, d_head=2, d_mlp=6)
ASKED, SOURCES = Questions.parse(["12+34", "56-78"]), Questions.parse(["90+12", "11-10"])
E1, E2 = [1.0, 0, 0, 0, 0, 0], [0, 1.0, 0, 0, 0, 0]


@pytest.fixture(scope="module")
def engine() -> Engine:
    return Engine(random_model(CONFIG, 1))


IMPOSSIBLE = {
    "no changes": (Edit(()), "changes"),
    "no sites": (interchange(""), "P10L0H2"),
    "no position": (
        interchange("P10L0H0"),
        "P10L0H0.*0 to 9.*0 to 1.*0 to 1",
    ),
    "no layer": (interchange("P3L2MLP"), "P3L2MLP"),
    "no head": (interchange("P3L1H2"), "P3L1H2"),
    "no residual": (interchange("P3L3RESID"), "P3L3RESID.*0 to 9.*0 to 2"),
    "one of many": (ablate("P3L0H0 + P99L0H0", "zero"), "P99L0H0"),
    "kept node": (keep_only("P3L2H0", "zero"), "P3L2H0"),
    "no share": (interpolate("P3L0H0", 0), r"share.*\b0\b"),
    "no amount": (add_direction("P3L0H0", E1, 0), r"amount.*\b0\b"),
    "short direction": (
        add_direction("P3L0H0", [1.0, 2.0]),
        r"\b2 .*\b6\b",
    ),
    "no direction": (add_direction("P3L0H0", [0.0] * 6), "independent"),
    "long basis": (project("P3L0H0", [E1, [*E2, 0]]), r"\b7 .*\b6\b"),
    "dependent basis": (project("P3L0H0", [E1, E1]), "independent"),
    "slot": (
        interchange("P3L0H0", source=1),
        "P3L0H0.*source 1",
    ),
    "edge slot": (edge("P3L0H0", "P3L0MLP", source=4), "source 4"),
    "mean": (ablate("P3L0H0"), "P3L0H0 <- mean.*reference="),
    "resample": (keep_only("P3L0H0", "resample"), "reference="),
    "kept residual": (keep_only("P3L1RESID", "zero"), "P3L1RESID.*heads and MLPs"),
    "all kept": (keep_only(all_nodes(10, 2, 2), "zero"), "ablated"),
    "a share that is no number": (Edit((Replace(parse_sites("P3L0H0"), Fill.SOURCE, share=math.nan),)), "nan"),
    "an edge's share that is no number": (
        Edit((Edge(parse_sites("P3L0H0"), parse_receivers("P3L0MLP"), 0, math.inf),)),
        "inf",
    ),
    "a vector without end": (Edit((Add(parse_sites("P3L0H0"), (math.nan, *E1[1:]), 1.0),)), "finite"),
    "a share below all numbers of the model": (interpolate("P3L0H0", 1e-300), "1e-300.*share"),
    "a share that is lost in rounding": (interpolate("P3L0H0", 1e-12), "1e-12.*share"),
    "an edge's share that is lost in rounding": (edge("P3L0H0", "P3L0MLP", share=1e-30), "1e-30.*share"),
    "a direction that LayerNorm takes out": (add_direction("P3L0H0", [2.0] * 6), "LayerNorm"),
    "a subspace that LayerNorm takes out": (project("P3L1RESID", [[2.0] * 6]), "LayerNorm"),
    "an amount beyond them": (add_direction("P3L0H0", E1, 1e300), r"1e\+300"),
    "a direction below them": (add_direction("P3L0H0", [1e-320, 0, 0, 0, 0, 0]), "direction"),
    "kept source": (
        Edit((KeepOnly(parse_sites("P3L0H0"), Fill.SOURCE),)),
        "source.*zero",
    ),
    "no receivers": (edge("P3L0H0", ""), r"receivers.*P17L1H2\.k"),
    "no senders": (edge("", "P3L0MLP"), "P10L0H2"),
    "residual sender": (edge("P3L0RESID", "P3L0MLP"), "heads and MLPs"),
    "no edge share": (edge("P3L0H0", "P3L0MLP", share=0), r"share.*\b0\b"),
    "no such receiver": (edge("P3L0H0", "P3L2MLP"), "P3L2MLP"),
    "no such logits": (edge("P3L0H0", "P10.logits"), r"P10\.logits"),
    "same layer": (
        edge("P3L0H0", "P3L0H1.q"),
        r"P3L0H1\.q.*P3L0H0",
    ),
    "same MLP": (edge("P3L0MLP", "P3L0MLP"), "P3L0MLP.*P3L0MLP"),
    "earlier place": (edge("P3L0H0", "P2L1H0.k"), r"P2L1H0\.k.*P3L0H0"),
    "query elsewhere": (edge("P3L0H0", "P4L1H0.q"), r"P4L1H0\.q.*P3L0H0"),
    "logits elsewhere": (edge("P3L0H0", "P4.logits"), r"P4\.logits.*P3L0H0"),
    "one sender unread": (edge("P3L0H0 + P4L1H0", "P3L1MLP"), "receivers.*P4L1H0"),
    "one receiver deaf": (edge("P3L0H0", "P3L1MLP + P4L1MLP"), "P4L1MLP.*P3L0H0"),
    "twice": (
        interchange("P3L0H0 + P4L0H0") + ablate("P4L0H0", "zero"),
        "P4L0H0.*twice",
    ),
    "twice with keep": (keep_only("P3L0H0", "zero") + interchange("P3L1H0"), "P3L1H0.*twice"),
    "edge twice": (
        edge("P3L0H0", "P3L0MLP + P3L1MLP") + edge("P3L0H0", "P3L1MLP", share=0.5),
        "P3L0H0.*P3L1MLP.*twice",
    ),
    "both norms": (
        edge("P3L0H0", "P3L1MLP") + edge("P3L0H1", "P3L1MLP", norm="frozen"),
        "P3L1MLP.*norm",
    ),
}


@pytest.mark.parametrize("name", IMPOSSIBLE)
def test_an_edit_that_cannot_be_made_is_refused_with_one_line(engine: Engine, name: str) -> None:
    edit, pattern = IMPOSSIBLE[name]
    with pytest.raises(CarryLensError) as caught:
        engine.run([interchange("P3L0H0"), edit], ASKED, SOURCES)
    assert re.search(pattern, str(caught.value))
    assert "\n" not in str(caught.value)
    with pytest.raises(CarryLensError):
        engine.run_each([interchange("P3L0H0"), edit], ASKED, SOURCES)


def test_edges_that_only_look_alike_are_let_through(engine: Engine) -> None:
    """P4L1H0.q reads P4L0H0 alone, P3L1H0.q P3L0H0 alone: no edge is there twice."""
    crossed = edge("P3L0H0 + P4L0H0", "P3L1H0.q + P4L1H0.q")
    rest = edge("P3L0H0", "P4L1H0.k") + edge("P3L0H1", "P3L1H0.q")
    assert engine.run([crossed + rest], ASKED, SOURCES).changed.shape == (1, 2, 4)


def test_rows_in_which_nothing_can_change_are_marked(engine: Engine) -> None:
    """P9 is read by no component, P2L1 by no output; a question that is its own source changes nothing."""
    dead, live = interchange("P9L1H0 + P2L1MLP"), interchange("P3L0H0")
    sources = Questions.parse(["12+34", "11-10"])
    edits = [dead, live, live + dead, edge("P3L0H0", "P3L0MLP"), ablate("P3L0H0", "zero")]
    outcomes = engine.run(edits, ASKED, sources)
    assert outcomes.idle.tolist() == [[True, True], [True, False], [True, False], [True, False], [False, False]]
    assert not outcomes.changed[outcomes.idle].any()
    moved = engine.run([patch_difference("P3L0H0")], ASKED, [SOURCES, Questions.parse(["90+12", "22-10"])])
    assert moved.idle.tolist() == [[True, False]]
    assert engine.run_each([dead, live], ASKED, SOURCES).idle.tolist() == [True, False]


def test_logits_that_are_not_finite_are_no_answers() -> None:
    model, task = random_model(CONFIG, 1).float(), arithmetic_task(Operation.MIX, 2)
    parts = exam_parts(task, 4, 0)
    with torch.no_grad():
        model.unembed.W_U.mul_(1e38)
        model.state_dict()["ln_final.w"].mul_(1e38)
    with pytest.raises(CarryLensError, match="finite"):
        Engine(model).run([interchange("P3L0H0")], ASKED, SOURCES)
    with pytest.raises(CarryLensError, match="finite"):
        decode_outputs(model, task, ASKED)
    with pytest.raises(CarryLensError, match="finite"):
        list(sit(model, task, parts, blank_results(parts)))


GIVEN_WRONG: dict[str, tuple[dict[str, Any], str]] = {
    "digits": (
        {"questions": Questions.parse(["123+456"])},
        r"\b2 digits.*\b3\b",
    ),
    "source digits": ({"sources": Questions.parse(["123+456"] * 2)}, r"\b2 digits.*\b3\b"),
    "reference digits": ({"reference": Questions.parse(["123+456"])}, r"\b2 digits.*\b3\b"),
    "few sources": (
        {"sources": SOURCES[:1]},
        r"\b2 questions.*\b1 sources",
    ),
    "no reference": ({"reference": SOURCES[:0]}, "reference"),
    "no questions": (
        {"questions": ASKED[:0], "sources": ()},
        r"\b1 edits.*\b0 questions",
    ),
    "no edits": ({"edits": []}, r"\b0 edits.*\b2 questions"),
    "few answers": (
        {"read": np.zeros((1, 4), dtype=np.int8)},
        r"\[1, 4\]",
    ),
    "class": (
        {"edits": [ablate("P3L0H0", "class-mean")], "reference": Questions.parse(["11+11"])},
        "reference.*N1",
    ),
    "only itself": (
        {"edits": [ablate("P3L0H0", "resample")], "reference": ASKED[:1]},
        "reference.*resample",
    ),
    "no activation": (
        {"keep": ["blocks.0.hook_attn_out"]},
        r"'blocks\.0\.hook_attn_out'.*blocks\.LAYER",
    ),
    "no such layer": ({"keep": ["blocks.2.hook_mlp_out"]}, r"'blocks\.2\.hook_mlp_out'"),
    "kept twice": ({"keep": ["blocks.0.hook_mlp_out"] * 2}, "twice"),
}


@pytest.mark.parametrize("name", GIVEN_WRONG)
def test_what_does_not_fit_is_refused_with_one_line(engine: Engine, name: str) -> None:
    wrong, pattern = GIVEN_WRONG[name]
    given: dict[str, Any] = {"edits": [interchange("P3L0H0")], "questions": ASKED, "sources": SOURCES} | wrong
    with pytest.raises(CarryLensError) as caught:
        engine.run(**given)
    assert re.search(pattern, str(caught.value))
    assert "\n" not in str(caught.value)


def test_edits_and_questions_go_in_pairs(engine: Engine) -> None:
    with pytest.raises(CarryLensError, match=r"\b1 edits.*\b2 questions"):
        engine.run_each([interchange("P3L0H0")], ASKED, SOURCES)


def test_a_model_in_another_precision_is_refused() -> None:
    model: Transformer = copy.deepcopy(random_model(CONFIG, 1)).to(torch.bfloat16)
    with pytest.raises(CarryLensError, match=r"torch\.bfloat16.*float32"):
        Engine(model).run([interchange("P3L0H0")], ASKED, SOURCES)


def test_the_last_place_of_everything_is_there(engine: Engine) -> None:
    """One past it is not: see above."""
    last = interchange("P9L1H1 + P9L1MLP + P9L2RESID") + edge("P9L0H1", "P9.logits + P9L1H1.v")
    assert not engine.run([last], ASKED, SOURCES).changed.any()  # nothing is read from the last position


def test_changes_made_without_the_constructors_are_checked_too(engine: Engine) -> None:
    """Edits that come from JSON, or are put together by hand."""
    far = Edit((Replace((Node(99, 0, 0),), Fill.ZERO),))
    looped = Edit((Edge(parse_sites("P3L1H0"), parse_receivers("P3L0MLP")),))
    for edit in (far, looped):
        with pytest.raises(CarryLensError):
            engine.run([Edit.from_json(edit.to_json())], ASKED, SOURCES)
