"""The page's engine gives what Python gives: for every shape, layout and kind of edit, on random questions."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from carrylens.explorer.golden import FILLS, read_nodes
from carrylens.explorer.model_record import in_double
from carrylens.explorer.page_data import Explored, page_data
from carrylens.explorer.question_record import chosen_samplers, reference_of
from carrylens.interventions.edits import Edit, Fill, Replace
from carrylens.interventions.engine import Engine
from carrylens.model.decoding import decode_outputs
from carrylens.tasks.batches import Batch
from explorer.node_engine import run_cases
from explorer.subjects import SHAPES, shipped

FEW, MANY = 12, 200
LONGEST = "add_d20_l2_h3_w96_t12K_s1"
ONE_OF_EACH_SHAPE = ("add_d5_l1_h3_w96_t5K_s1", "add_d6_l2_h3_w96_t2K_s1", "mix_d5_l3_h4_w96_t4K_s1")


@cache
def made(name: str) -> tuple[Explored, dict[str, Any]]:
    explored = SHAPES[name]() if name in SHAPES else shipped(name)
    return explored, page_data(explored)


def random_edits(explored: Explored, count: int, seed: int) -> list[Edit]:
    """Each of one to four nodes, of which each has its own fill."""
    random, nodes = np.random.default_rng(seed), read_nodes(explored.model)
    found = []
    for _ in range(count):
        chosen = random.choice(len(nodes), size=min(len(nodes), int(random.integers(1, 5))), replace=False)
        changes = [
            Replace((nodes[int(at)],), fill, seed=int(random.integers(3)) if fill is Fill.RESAMPLE else 0)
            for at, fill in zip(chosen, random.permutation(np.array(FILLS * 2)), strict=False)
        ]
        found.append(Edit(tuple(changes)))
    return found


def as_case(edit: Edit, base: Batch, source: Batch) -> dict[str, Any]:
    edits = [[str(c.sites[0]), c.fill.value, c.seed] for c in edit.changes if isinstance(c, Replace)]
    return {"do": "logits", "inputs": base.values[0].tolist(), "source": source.values[0].tolist(), "edits": edits}


def differences(explored: Explored, data: dict[str, Any], count: int, seed: int) -> tuple[float, int]:
    """The largest difference of a logit from Python's, and how many answers differ."""
    task = explored.task
    sampler = next(iter(chosen_samplers(task).values()))
    bases, sources = sampler.draw(seed, 0, count), sampler.draw(seed + 1, 0, count)
    edits = random_edits(explored, count, seed)
    # Single precision itself moves the logits of planted circuits by a tenth: there, Python computes in double, too.
    engine = Engine(in_double(explored.model) if explored.name == "planted" else explored.model, task)
    wanted = engine.run_each(edits, bases, sources, reference=reference_of(task), logits=True)
    assert wanted.logits is not None
    cases = [as_case(edit, bases[at], sources[at]) for at, edit in enumerate(edits)]
    cases += [{"do": "logits", "inputs": row.tolist(), "edits": []} for row in bases.values]
    found = run_cases(data, cases)
    edited = np.array([each["logits"] for each in found[:count]])
    sure = ~wanted.close  # another order of additions may change what is within rounding
    wrong = (np.array([each["tokens"] for each in found[:count]]) != wanted.tokens) & sure
    clean = np.array([each["tokens"] for each in found[count:]]) != wanted.clean_tokens
    margin = np.abs(wanted.clean_margins) > 1e-3
    return float(np.abs(edited - wanted.logits).max()), int(wrong.sum() + (clean & margin).sum())


@pytest.mark.parametrize("name", [*SHAPES, *ONE_OF_EACH_SHAPE])
def test_logits_and_answers_are_those_of_the_engine(name: str) -> None:
    worst, wrong = differences(*made(name), count=FEW, seed=11)
    assert worst < 1e-3
    assert wrong == 0


@pytest.mark.slow
@pytest.mark.parametrize("name", [*SHAPES, *ONE_OF_EACH_SHAPE, LONGEST])
def test_logits_and_answers_are_those_of_the_engine_on_many_questions(name: str) -> None:
    """All shipped models were compared so once, on 400 questions each."""
    worst, wrong = differences(*made(name), count=MANY, seed=12)
    assert worst < 1e-3
    assert wrong == 0


def test_a_difference_would_be_seen() -> None:
    explored, data = made("mix")
    other = {**data, "model": {**data["model"], "config": {**data["model"]["config"], "eps": 1e-2}}}
    assert differences(explored, other, count=FEW, seed=11)[0] > 1e-3


@pytest.mark.parametrize("name", SHAPES)
def test_golden_answers_are_found_again(name: str) -> None:
    (found,) = run_cases(made(name)[1], [{"do": "golden"}])
    assert found["ok"], found


@pytest.mark.parametrize("name", ["mix", "units first", "brackets", "planted"])
def test_the_model_reads_what_it_wrote_itself(name: str) -> None:
    explored, data = made(name)
    questions = next(iter(chosen_samplers(explored.task).values())).draw(5, 0, 40)
    wanted = decode_outputs(explored.model, explored.task, questions)
    for shown in (False, True):
        cases = [{"do": "own", "inputs": row.tolist(), "edits": [], "shown": shown} for row in questions.values]
        assert np.array(run_cases(data, cases)).tolist() == wanted.tolist()


@pytest.mark.parametrize("name", ["mix", "gelu", "planted"])
def test_what_is_kept_of_earlier_questions_changes_no_answer(name: str) -> None:
    """Asked in a row a pass is written over and only in part; for looking at, each has one of its own.

    Late nodes matter: before them stands what a model with random weights wrote itself, which is wrong.
    """
    explored, data = made(name)
    questions = next(iter(chosen_samplers(explored.task).values())).draw(6, 0, 40)
    reads, random = explored.model.config.reads, np.random.default_rng(4)
    late = [str(node) for node in read_nodes(explored.model) if node.position >= reads.start + 2]
    several = [as_case(edit, questions[:1], questions[1:2])["edits"] for edit in random_edits(explored, 80, seed=4)]
    single = [[[late[int(random.integers(len(late)))], ("zero", "resample")[at % 2], 0]] for at in range(240)]
    source = questions.values[7].tolist()
    cases = [
        {
            "do": "own",
            "inputs": questions.values[at // 4 % 40].tolist(),
            "source": source,
            "edits": edit,
            "shown": shown,
        }
        for at, edit in enumerate([*several, *single])
        for shown in (False, True)
    ]
    found = run_cases(data, cases)
    assert found[0::2] == found[1::2]
    assert len({str(tokens) for tokens in found}) > 5


def test_attention_is_that_of_the_model() -> None:
    import torch

    explored, data = made("mix")
    questions = explored.task.samplers["natural"].draw(1, 0, 2)
    _, cache_ = explored.model.run_with_cache(torch.from_numpy(explored.task.token_ids(questions)))
    end = explored.model.config.reads.stop
    for row, question in enumerate(questions.values):
        (layers,) = run_cases(data, [{"do": "pattern", "inputs": question.tolist()}])
        for layer, flat in enumerate(layers):
            ours: NDArray[np.float64] = np.array(flat).reshape(end, -1, end).transpose(1, 0, 2)
            theirs = cache_[f"blocks.{layer}.attn.hook_pattern"][row].numpy()[:, :end, :end]
            assert np.abs(ours - theirs).max() < 1e-4


def test_the_lens_reads_the_stream_of_each_layer() -> None:
    import torch

    explored, data = made("mix")
    model, questions = explored.model, explored.task.samplers["natural"].draw(1, 0, 1)
    _, cache_ = model.run_with_cache(torch.from_numpy(explored.task.token_ids(questions)))
    for layer in range(3):
        name = f"blocks.{layer}.hook_resid_pre" if layer < 2 else "blocks.1.hook_resid_post"
        shares = model.unembed(model.ln_final.fused(cache_[name]))[0].softmax(-1).detach().numpy()
        (found,) = run_cases(data, [{"do": "lens", "inputs": questions.values[0].tolist(), "layer": layer}])
        assert [each["token"] for each in found] == shares.argmax(-1)[: len(found)].tolist()
        assert np.abs(np.array([each["share"] for each in found]) - shares.max(-1)[: len(found)]).max() < 1e-4


def words_of(tokens: NDArray[np.int64], seed: int) -> list[str]:
    return [str(each) for each in (*tokens, seed)]


def test_draws_are_those_of_blake2b() -> None:
    import hashlib

    random = np.random.default_rng(0)
    _, data = made("mix")
    rows = [random.integers(0, 200, size=int(size)) for size in (1, 7, 15, 16, 17, 40)]
    found = run_cases(data, [{"do": "blake", "words": words_of(row, 3)} for row in rows])
    for row, text in zip(rows, found, strict=True):
        content = row.astype(np.int64).tobytes() + (3).to_bytes(8, "little")
        assert int(text) == int.from_bytes(hashlib.blake2b(content, digest_size=8).digest(), "little")
