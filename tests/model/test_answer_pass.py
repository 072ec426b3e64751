"""The answer pass gives what the whole transformer gives, in its values and in its gradients."""

import pytest
import torch

from carrylens.arithmetic import Operation, Population, PopulationKind, answers
from carrylens.arithmetic.model_shapes import config_of_width
from carrylens.arithmetic.tokens import answer_positions, encode
from carrylens.model import Transformer
from carrylens.model.answer_pass import answer_logits, many_answer_logits, shared_places


def a_model(n_layers: int, n_heads: int, digits: int) -> tuple[Transformer, torch.Tensor]:
    model = Transformer(config_of_width(digits, n_layers, n_heads, width=24, seed=5)).double()
    generator = torch.Generator().manual_seed(1)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(0.3 * torch.randn(parameter.shape, generator=generator, dtype=torch.float64))
    questions = Population(PopulationKind.ENRICHED, Operation.MIX, digits).draw(2, 0, 16)
    return model, torch.from_numpy(encode(questions, answers(questions)))


@pytest.mark.parametrize("digits", [1, 4])
@pytest.mark.parametrize(("n_layers", "n_heads"), [(1, 3), (2, 3), (3, 4), (4, 2)])
def test_logits_and_gradients_are_those_of_the_whole_pass(n_layers: int, n_heads: int, digits: int) -> None:
    model, tokens = a_model(n_layers, n_heads, digits)
    fast = answer_logits(model, tokens)
    fast.square().sum().backward()  # type: ignore[no-untyped-call]
    fast_gradients = {name: p.grad for name, p in model.named_parameters()}
    model.zero_grad()
    whole = model(tokens)[:, list(answer_positions(digits))]
    whole.square().sum().backward()
    torch.testing.assert_close(fast, whole, rtol=0, atol=1e-12)
    for name, parameter in model.named_parameters():
        assert parameter.grad is not None
        assert fast_gradients[name] is not None
        torch.testing.assert_close(fast_gradients[name], parameter.grad, rtol=1e-9, atol=1e-9, msg=name)


@pytest.mark.parametrize("n_layers", [1, 2, 3])
def test_shared_beginnings_change_nothing(n_layers: int) -> None:
    model, _ = a_model(n_layers, 3, 3)
    questions = Population(PopulationKind.ENRICHED, Operation.MIX, 3).draw(3, 0, 900)
    tokens = torch.from_numpy(encode(questions, answers(questions)))
    assert shared_places(model, tokens) == (2 if n_layers > 1 else 0)
    with torch.no_grad():
        torch.testing.assert_close(many_answer_logits(model, tokens), answer_logits(model, tokens), rtol=0, atol=1e-12)
        few = tokens[:5]
        assert shared_places(model, few) == 0
        torch.testing.assert_close(many_answer_logits(model, few), answer_logits(model, few), rtol=0, atol=1e-12)


def test_sequences_that_are_all_equal_share_the_whole_question() -> None:
    model, tokens = a_model(2, 3, 2)
    same = tokens[:1].expand(40, -1)
    assert shared_places(model, same) == 5
    with torch.no_grad():
        torch.testing.assert_close(many_answer_logits(model, same), answer_logits(model, same), rtol=0, atol=1e-12)


def test_a_changed_weight_is_noticed() -> None:
    model, tokens = a_model(2, 3, 4)
    before = answer_logits(model, tokens)
    with torch.no_grad():
        model.blocks[1].attn.W_K[0, 0, 0] += 0.1  # type: ignore[union-attr, operator, index]
    assert float((answer_logits(model, tokens) - before).detach().abs().max()) > 1e-6
