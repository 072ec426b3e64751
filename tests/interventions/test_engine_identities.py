"""What must hold whatever the weights: no-ops are clean, all edges of a node are the node, means are means."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from carrylens.arithmetic import Answers, Operation, Population, PopulationKind, Questions, answers, classify
from carrylens.arithmetic.classes import CLASSES
from carrylens.arithmetic.model_shapes import arithmetic_config
from carrylens.arithmetic.task import arithmetic_task
from carrylens.arithmetic.tokens import answer_positions, encode
from carrylens.interventions import (
    Edit,
    Engine,
    Outcomes,
    Receiver,
    ablate,
    add_direction,
    edge,
    interchange,
    interpolate,
    keep_only,
    project,
)
from carrylens.interventions.clean import Book, clean_book, reference_means, sequence_bytes
from carrylens.interventions.edits import Fill, Replace
from carrylens.interventions.parts import LayerParts, Parts
from carrylens.interventions.sequences import Sequences
from carrylens.model import ModelConfig, Transformer
from carrylens.nodes import Node, all_nodes
from interventions.random_edits import RandomEdits, random_model
from interventions.slow_interventions import Asked, can_read, hooked_logits

CONFIG = arithmetic_config(digits=3, n_layers=3, n_heads=2, d_model=10, d_head=4, d_mlp=12)
NODES = all_nodes(CONFIG.n_ctx, CONFIG.n_layers, CONFIG.n_heads)
UNREAD = ablate("P0L2H0", "zero")  # in the last layer nobody reads a place of the question
SHAPES = [(1, 1), (2, 3), (3, 2)]  # layers, heads


@pytest.fixture(scope="module")
def model() -> Transformer:
    return random_model(CONFIG, seed=4)


def some(count: int, seed: int = 0, digits: int = 3) -> Questions:
    return Population(PopulationKind.ENRICHED, Operation.MIX, digits).draw(seed, 0, count)


def logits_of(outcome: Outcomes) -> np.ndarray[tuple[int, ...], np.dtype[np.floating]]:
    assert outcome.logits is not None
    return outcome.logits


def clean_logits(model: Transformer, questions: Questions) -> np.ndarray[tuple[int, ...], np.dtype[np.floating]]:
    """The engine's own clean logits, to the bit where a call has the same sequences."""
    return logits_of(Engine(model).run([UNREAD], questions, logits=True))[0]


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
def test_clean_logits_are_those_of_the_model(model: Transformer, dtype: torch.dtype) -> None:
    model = copy.deepcopy(model).to(dtype)
    tokens = torch.from_numpy(encode(some(5), answers(some(5))))
    whole = model(tokens)[:, list(answer_positions(3))].detach().numpy()
    gap = np.abs(clean_logits(model, some(5)) - whole).max()
    assert gap <= {torch.float32: 1e-5, torch.float64: 1e-13}[dtype]


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
def test_an_edit_that_changes_no_bit_is_the_clean_run_to_the_bit(model: Transformer, dtype: torch.dtype) -> None:
    model, asked = copy.deepcopy(model).to(dtype), some(5)
    rng = np.random.default_rng(0)
    some_nodes = [NODES[at] for at in rng.choice(len(NODES), 12, replace=False)]
    noops = [
        *(interchange([node]) for node in NODES[::5]),
        interchange(NODES),
        interchange(["P3L1RESID", "P8L3RESID", *some_nodes]),
        interpolate(some_nodes, 0.37),
        project(some_nodes, rng.normal(size=(3, 10))),
        edge("P3L0H1 + P3L1MLP", "P9L2H0.k + P9L2H1.v + P3L2MLP"),
        edge("P9L1H0", "P9.logits + P9L2H0.q", norm="frozen"),
        interchange(some_nodes) + edge("P3L0H1", "P9L2H0.k"),
        edge("P3L0H1", "P3L1MLP + P9L2H0.v") + interchange("P3L1MLP"),  # what a receiver makes anew is put back,
        edge("P3L0H1", "P3L1MLP") + edge("P3L1MLP", "P3L2MLP + P9L2H0.v"),  # or sent on
        edge("P8L0H1", "P8L1H0.q") + edge("P8L1H0", "P8L1MLP + P9L2H0.v"),
    ]
    outcome = Engine(model, places=64).run(noops, asked, asked, logits=True, keep=["blocks.1.hook_resid_mid"])
    clean = clean_logits(model, asked)
    assert all(np.array_equal(row, clean) for row in logits_of(outcome))
    assert np.array_equal(outcome.margins, np.broadcast_to(outcome.clean_margins, outcome.margins.shape))
    kept = outcome.activations["blocks.1.hook_resid_mid"].values
    assert all(np.array_equal(row, kept[0]) for row in kept)
    assert not outcome.changed.any()


def test_a_row_is_clean_by_itself_though_its_neighbours_are_not(model: Transformer) -> None:
    asked, sources = some(4), some(4, seed=1)
    mixed = Questions.parse([asked.text()[0], *sources.text()[1:3], asked.text()[3]])
    outcome = Engine(model).run([UNREAD, interchange("P3L0H1 + P9L1MLP")], asked, mixed, logits=True)
    clean, edited = logits_of(outcome)
    same = (edited == clean).all((1, 2))
    assert same.tolist() == [True, False, False, True]


@pytest.mark.parametrize(("n_layers", "n_heads"), SHAPES)
def test_interchanging_everything_gives_the_sources_answer(n_layers: int, n_heads: int) -> None:
    config = arithmetic_config(2, n_layers, n_heads, d_model=8, d_head=3, d_mlp=9)
    model, asked, sources = random_model(config, 1), some(4, digits=2), some(4, seed=1, digits=2)
    theirs = clean_logits_at(model, sources)
    for layer in range(n_layers + 1):
        everywhere = [f"P{position}L{layer}RESID" for position in range(config.n_ctx - 1)]
        outcome = Engine(model).run([interchange(everywhere)], asked, sources, logits=True)
        np.testing.assert_allclose(logits_of(outcome)[0], theirs, rtol=0, atol=1e-12)
    # Every node besides the question's own entering stream makes the whole of the last stream.
    entering = [f"P{position}L0RESID" for position in range(config.n_ctx)]
    nodes = all_nodes(config.n_ctx, n_layers, n_heads)
    outcome = Engine(model).run([interchange(entering) + interchange(nodes)], asked, sources, logits=True)
    np.testing.assert_allclose(logits_of(outcome)[0], theirs, rtol=0, atol=1e-12)


def clean_logits_at(model: Transformer, questions: Questions) -> np.ndarray[tuple[int, ...], np.dtype[np.floating]]:
    last = model.config.n_layers
    return logits_of(Engine(model).run([interchange(f"P0L{last}RESID")], questions, questions, logits=True))[0]


def all_receivers(senders: list[Node], config: ModelConfig) -> list[str]:
    """Everyone who reads one of the senders."""
    every = [f"P{position}.logits" for position in range(config.n_ctx)]
    for node in all_nodes(config.n_ctx, config.n_layers, config.n_heads):
        every += [str(node)] if node.is_mlp else [f"{node}.{way}" for way in "qkv"]
    return [name for name in every if any(can_read(Receiver.parse(name), sender) for sender in senders)]


@pytest.mark.parametrize(("n_layers", "n_heads"), SHAPES)
def test_all_edges_of_a_node_are_the_node(n_layers: int, n_heads: int) -> None:
    config = arithmetic_config(1, n_layers, n_heads, d_model=8, d_head=3, d_mlp=9)
    model, asked, sources = random_model(config, 2), some(3, digits=1), some(3, seed=1, digits=1)
    nodes = all_nodes(config.n_ctx, n_layers, n_heads)
    edges = Engine(model).run(
        [edge([node], all_receivers([node], config)) for node in nodes], asked, sources, logits=True
    )
    whole = Engine(model).run([interchange([node]) for node in nodes], asked, sources, logits=True)
    np.testing.assert_allclose(logits_of(edges), logits_of(whole), rtol=0, atol=1e-9)
    assert np.abs(logits_of(whole) - clean_logits_at(model, asked)).max() > 0.1


def test_all_edges_of_a_set_are_the_set_also_across_layers(model: Transformer) -> None:
    """Senders after senders: the later ones are replaced too, so what reaches them first makes no difference."""
    asked, sources, rng = some(3), some(3, seed=1), np.random.default_rng(3)
    sets = [[NODES[at] for at in rng.choice(len(NODES), 5, replace=False)] for _ in range(12)]
    edges = Engine(model).run(
        [edge(nodes, all_receivers(nodes, CONFIG)) for nodes in sets], asked, sources, logits=True
    )
    whole = Engine(model).run([interchange(nodes) for nodes in sets], asked, sources, logits=True)
    np.testing.assert_allclose(logits_of(edges), logits_of(whole), rtol=0, atol=1e-9)


def test_the_stream_is_the_sum_of_its_writes(model: Transformer) -> None:
    """Under an edit too: what enters, plus every head's write and bias, plus every MLP's write."""
    names = [f"blocks.{layer}.{point}" for layer in range(3) for point in ("attn.hook_z", "hook_mlp_out")]
    edit = ablate("P8L0H1 + P9L1MLP", "zero") + interchange("P7L1H0")
    kept = Engine(model).run(
        [edit], some(3), some(3, seed=1), keep=[*names, "blocks.0.hook_resid_pre", "blocks.2.hook_resid_post"]
    )
    first = answer_positions(3).start
    total = kept.activations["blocks.0.hook_resid_pre"].values[0, :, first:]
    for layer, block in enumerate(list[Any](model.blocks)):
        z, out = (kept.activations[name] for name in names[2 * layer : 2 * layer + 2])
        w_o, b_o = (part.detach().numpy() for part in (block.attn.W_O, block.attn.b_O))
        heads = np.einsum("bphe,hed->bpd", z.values[0], w_o) + b_o
        total = total + (heads + out.values[0])[:, first - z.positions.start :]
    np.testing.assert_allclose(kept.activations["blocks.2.hook_resid_post"].values[0], total, rtol=0, atol=1e-12)


def test_to_keep_nothing_is_to_ablate_every_node(model: Transformer) -> None:
    asked, reference = some(3), some(8, seed=2)
    edits = [keep_only("", "mean"), ablate(NODES, "mean"), keep_only(NODES[:40], "zero"), ablate(NODES[40:], "zero")]
    nothing, every, kept, rest = logits_of(Engine(model).run(edits, asked, reference=reference, logits=True))
    np.testing.assert_allclose(nothing, every, rtol=0, atol=1e-12)
    np.testing.assert_allclose(kept, rest, rtol=0, atol=1e-12)


@pytest.mark.parametrize("count", [1, 63, 65, 130])
def test_means_are_plain_means_by_layer_and_position(model: Transformer, count: int) -> None:
    reference = some(count, seed=5)
    tokens, codes = torch.from_numpy(encode(reference, answers(reference))), classify(reference).code.astype(np.int64)
    means = reference_means(Parts(model), tokens, torch.from_numpy(codes), len(CLASSES))
    _, cache = model.run_with_cache(tokens)
    for layer, found in enumerate(means.layers):
        for name, mean in (("hook_resid_pre", found.stream), ("attn.hook_z", found.z), ("hook_mlp_out", found.mlp)):
            whole = cache[f"blocks.{layer}.{name}"][:, :-1][:, -mean.shape[1] :].detach()
            torch.testing.assert_close(mean[0], whole.mean(0), rtol=0, atol=1e-12)
            for code in set(codes.tolist()):
                torch.testing.assert_close(mean[1 + code], whole[codes == code].mean(0), rtol=0, atol=1e-12)
    last = cache["blocks.2.hook_resid_post"][:, list(answer_positions(3))].detach()
    torch.testing.assert_close(means.last[0], last.mean(0), rtol=0, atol=1e-12)


def test_a_question_twice_in_the_reference_counts_twice(model: Transformer) -> None:
    asked = some(2)
    once, twice = Questions.parse(["123+456", "999-111"]), Questions.parse(["123+456", "999-111", "999-111"])
    results = [
        logits_of(Engine(model).run([ablate("P9L0MLP")], asked, reference=reference, logits=True))
        for reference in (once, twice)
    ]
    assert np.abs(results[0] - results[1]).max() > 1e-3


def drawn_questions(questions: Questions, reference: Questions, seed: int, read: Answers | None = None) -> list[str]:
    task = arithmetic_task(Operation.MIX, questions.digits)
    sequences = Sequences.of(task, questions, [], reference, None if read is None else read.outputs)
    text = "0123456789+-=*/"
    drawn = sequences.distinct[sequences.origin((Fill.RESAMPLE, seed))]
    return ["".join(text[token] for token in row[: 2 * questions.digits + 2]) for row in drawn]


def test_a_draw_is_never_the_question_itself_however_it_is_answered() -> None:
    asked = some(30, digits=1)  # of 200 questions, so that reference and asked overlap
    reference = Questions.parse(asked.text() + asked.text()[:9])
    wrong = Answers(np.ones(30, dtype=np.bool_), np.full((30, 2), 7, dtype=np.int8))
    for seed in range(20):
        for read in (None, wrong):
            assert all(
                drawn != own
                for drawn, own in zip(drawn_questions(asked, reference, seed, read), asked.text(), strict=True)
            )


def test_draws_depend_only_on_question_seed_and_what_the_reference_has() -> None:
    asked, reference = some(20), some(15, seed=1)
    whole = dict(zip(asked.text(), drawn_questions(asked, reference, 7), strict=True))
    order = np.random.default_rng(0).permutation(20)[:11]
    part = drawn_questions(asked[order], reference[np.arange(15)[::-1]], 7)
    assert part == [whole[text] for text in asked[order].text()]
    assert drawn_questions(asked, reference, 8) != list(whole.values())
    assert set(whole.values()) <= set(reference.text())


def test_draws_reach_all_of_the_reference_about_as_often() -> None:
    reference = some(10, seed=1)
    drawn = [name for seed in range(40) for name in drawn_questions(some(50, seed=2), reference, seed)]
    counts = [drawn.count(name) for name in reference.text()]
    assert sum(counts) == 2000
    assert sum((count - 200) ** 2 / 200 for count in counts) < 27.9  # chi-squared with 9 degrees of freedom, p = 0.001


def test_questions_are_read_with_the_answers_given(model: Transformer) -> None:
    asked = some(3)
    read = Answers(np.array([True, False, True]), np.array([[1, 2, 3, 4]] * 3, dtype=np.int8))
    edits = [interchange("P9L0H0 + P11L1MLP"), ablate("P12L0H1", "zero")]
    outcome = Engine(model).run(edits, asked, some(3, seed=1), read=read.outputs, logits=True)
    for question in range(3):
        for edit in range(2):
            slow = hooked_logits(Asked.of(model, question, asked, [some(3, seed=1)], read=read), edits[edit])
            np.testing.assert_allclose(logits_of(outcome)[edit, question], slow.numpy(), rtol=0, atol=1e-12)
    assert np.array_equal(outcome.right, encode(asked, answers(asked))[:, 8:])


def count_places(monkeypatch: pytest.MonkeyPatch, worked: list[int]) -> None:
    """Note how many places an MLP thinks at, each time one does."""
    think = LayerParts.think

    def counted(self: LayerParts, read: torch.Tensor) -> torch.Tensor:
        worked.append(read.shape[:-1].numel())
        return think(self, read)

    monkeypatch.setattr(LayerParts, "think", counted)


def test_a_node_nobody_reads_costs_nothing_and_answers_clean(
    model: Transformer, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = some(4)
    unread = [node for node in NODES if node.position == 12 or (node.layer == 2 and node.position < 7)]
    edits = [ablate([node], "zero") for node in unread] + [edge("P2L1MLP", "P2L2H0.q + P2L2MLP + P2.logits")]
    whole = model(torch.from_numpy(encode(asked, answers(asked))))[:, list(answer_positions(3))].detach().numpy()
    worked: list[int] = []
    count_places(monkeypatch, worked)
    outcome = Engine(model).run(edits, asked, some(4, seed=1), logits=True)
    assert all(np.array_equal(row, logits_of(outcome)[0]) for row in logits_of(outcome))
    np.testing.assert_allclose(logits_of(outcome)[0], whole, rtol=0, atol=1e-12)
    assert 0 < sum(worked) <= 8 * 12 * 3  # the clean passes of four questions and four sources, and no more


def test_work_grows_with_what_an_edit_can_reach(model: Transformer, monkeypatch: pytest.MonkeyPatch) -> None:
    """A node of the last layer costs one MLP's place a row; one of the first layer all places after it."""
    worked: list[int] = []
    count_places(monkeypatch, worked)

    def places(edit: Edit) -> int:
        worked.clear()
        Engine(model).run([edit], some(4), some(4, seed=1))
        return sum(worked) - (8 * 12 * 2 + 8 * 5)  # less the clean passes

    assert places(interchange("P9L2H0")) == 4  # its own MLP
    assert places(interchange("P9L2MLP")) == 0
    assert places(interchange("P9L1MLP")) == 4 * 3  # layer 2 at 9, 10 and 11
    assert places(interchange("P0L1MLP")) == 4 * 5  # layer 2 at the answer's places
    assert places(interchange("P10L0H0")) == 4 * (1 + 2 + 2)
    assert places(edge("P0L0H0", "P9L2H1.k")) == 4


@pytest.mark.parametrize("n_slots", [0, 2])
def test_memory_bounds_the_clean_passes_held(model: Transformer, monkeypatch: pytest.MonkeyPatch, n_slots: int) -> None:
    made: list[int] = []

    def counted(parts: Parts, tokens: torch.Tensor) -> Book:
        made.append(len(tokens))
        return clean_book(parts, tokens)

    monkeypatch.setattr("carrylens.interventions.engine.clean_book", counted)
    one = sequence_bytes(Parts(model))
    edits = [ablate("P3L0H0"), *(interchange("P3L0H1", source) for source in range(n_slots))]
    slots = [some(40, seed=1 + slot) for slot in range(n_slots)]
    Engine(model, memory=12 * one).run(edits, some(40), slots, reference=some(300, seed=9))
    assert max(made) <= 12
    assert len(made) == -(
        -40 // (12 // (1 + n_slots))
    )  # a large reference, of which only means are held, takes no room


def test_a_book_takes_the_bytes_it_is_said_to(model: Transformer) -> None:
    tokens = torch.from_numpy(encode(some(70), answers(some(70))))
    book = clean_book(Parts(model), tokens)
    held = [tensor for layer in book.layers for tensor in vars(layer).values() if isinstance(tensor, torch.Tensor)]
    assert sum(tensor.nbytes for tensor in (*held, book.last, book.logits)) == 70 * sequence_bytes(Parts(model))


def test_changes_of_one_place_are_made_in_the_order_in_which_it_computes(model: Transformer) -> None:
    """The entering stream first, then heads, then the MLP, however the edit lists them."""
    parts = [interchange("P9L1RESID"), ablate("P9L1H0", "zero"), add_direction("P9L1MLP", list(range(10)))]
    forwards, backwards = parts[0] + parts[1] + parts[2], parts[2] + parts[1] + parts[0]
    one, other = logits_of(Engine(model).run([forwards, backwards], some(3), some(3, seed=1), logits=True))
    np.testing.assert_allclose(one, other, rtol=0, atol=1e-12)


def test_a_subspace_and_its_complement_together_are_the_whole(model: Transformer) -> None:
    rng = np.random.default_rng(5)
    whole = np.linalg.qr(rng.normal(size=(10, 10)))[0]
    asked, sources = some(3), some(3, seed=1)
    edits = [project("P9L1H0 + P8L0MLP + P7L1RESID", whole), interchange("P9L1H0 + P8L0MLP + P7L1RESID")]
    one, other = logits_of(Engine(model).run(edits, asked, sources, logits=True))
    np.testing.assert_allclose(one, other, rtol=0, atol=1e-12)


def test_a_subspace_can_be_ablated(model: Transformer) -> None:
    """A basis goes with any fill: here zero, on a head."""
    edit = Edit((Replace((Node(9, 1, 0),), Fill.ZERO, basis=((1.0, *[0.0] * 9),)),))
    asked = some(2)
    outcome = Engine(model).run([edit], asked, logits=True)
    slow = hooked_logits(Asked.of(model, 1, asked), edit)
    np.testing.assert_allclose(logits_of(outcome)[0, 1], slow.numpy(), rtol=0, atol=1e-12)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA here")
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
def test_cuda_gives_what_the_cpu_gives(model: Transformer, dtype: torch.dtype, tmp_path: Path) -> None:
    make, (asked, *slots) = RandomEdits(CONFIG, np.random.default_rng(8)), (some(6, seed) for seed in range(3))
    edits, reference = [make.draw() for _ in range(60)], Questions.parse(asked.text() + some(9, seed=4).text())
    keep = ["blocks.1.hook_resid_mid", "blocks.2.attn.hook_z"]
    here, there = (
        Engine(copy.deepcopy(model).to(device, dtype)).run(
            edits, asked, slots, reference=reference, logits=True, keep=keep, store=tmp_path / device
        )
        for device in ("cpu", "cuda")
    )
    np.testing.assert_allclose(
        logits_of(here), logits_of(there), rtol=0, atol={torch.float32: 1e-3, torch.float64: 1e-9}[dtype]
    )
