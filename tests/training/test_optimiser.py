"""The optimiser against slow and obvious routes."""

import pytest
import torch

from carrylens.arithmetic.model_shapes import config_of_width
from carrylens.model import Transformer
from carrylens.training.optimiser import Muon, Optimiser, as_weight, orthogonalised, tall_matrix
from carrylens.training.recipe import TrainingRecipe

CONFIG = config_of_width(3, 2, 4, width=24, seed=1)


def with_gradients(seed: int) -> Transformer:
    model = Transformer(CONFIG)
    give_gradients(model, seed)
    return model


def give_gradients(model: Transformer, seed: int) -> None:
    generator = torch.Generator().manual_seed(seed)
    for parameter in model.parameters():
        parameter.grad = torch.randn(parameter.shape, generator=generator)


def test_without_muon_and_clipping_it_steps_as_plain_adamw_on_every_parameter() -> None:
    ours, plain = with_gradients(1), with_gradients(1)
    optimiser = Optimiser(ours, TrainingRecipe(adam_rate=8e-5, muon_rate=None, clip=None, decays_all=True))
    reference = torch.optim.AdamW(plain.parameters(), lr=8e-5 * 0.5, betas=(0.9, 0.98), weight_decay=0.1)
    for seed in (1, 2, 3):
        give_gradients(ours, seed)
        give_gradients(plain, seed)
        optimiser.step(0.5)
        reference.step()
    for (name, mine), theirs in zip(ours.named_parameters(), plain.parameters(), strict=True):
        torch.testing.assert_close(mine, theirs, rtol=0, atol=1e-7, msg=name)


def test_gradients_are_clipped_to_length_one_and_cleared() -> None:
    model = with_gradients(1)
    expected = torch.cat([p.grad.flatten() for p in model.parameters() if p.grad is not None]).norm()
    length = Optimiser(model, TrainingRecipe()).step(1.0)
    assert length == pytest.approx(float(expected), rel=1e-5)
    assert all(parameter.grad is None for parameter in model.parameters())


def test_muons_update_has_orthogonal_columns() -> None:
    stack = torch.randn(3, 40, 10, generator=torch.Generator().manual_seed(0))
    singular = torch.linalg.svdvals(orthogonalised(stack))
    assert float(singular.min()) > 0.6
    assert float(singular.max()) < 1.3
    left, _, right = torch.linalg.svd(stack, full_matrices=False)
    cosine = (orthogonalised(stack) * (left @ right)).sum() / (orthogonalised(stack).norm() * (left @ right).norm())
    assert float(cosine) > 0.98, "the same directions as the exact orthogonal factor"


@pytest.mark.parametrize("name", ["attn.W_Q", "attn.W_K", "attn.W_V", "attn.W_O", "mlp.W_in", "mlp.W_out"])
def test_a_weight_laid_out_as_a_matrix_comes_back(name: str) -> None:
    weight = dict(Transformer(CONFIG).named_parameters())[f"blocks.0.{name}"]
    matrix = tall_matrix(name, weight)
    assert matrix.shape[0] >= matrix.shape[1]
    assert torch.equal(as_weight(name, matrix.contiguous(), weight), weight)


def test_muon_takes_the_blocks_matrices_and_nothing_else() -> None:
    names = Muon(Transformer(CONFIG)).names
    assert len(names) == 2 * 6
    assert all(name.startswith("blocks.") and ".W_" in name for name in names)


def test_a_muon_step_goes_downhill() -> None:
    model = Transformer(CONFIG)
    optimiser = Optimiser(model, TrainingRecipe())
    tokens = torch.randint(10, (32, CONFIG.n_ctx), generator=torch.Generator().manual_seed(0))
    losses = []
    for _ in range(30):
        loss = torch.nn.functional.cross_entropy(model(tokens).flatten(0, 1), tokens.flatten())
        losses.append(float(loss.detach()))
        loss.backward()  # type: ignore[no-untyped-call]
        optimiser.step(0.3)
    assert losses[-1] < 0.7 * losses[0]


@pytest.mark.parametrize("muon_rate", [0.02, 0.01, None])
def test_going_on_from_a_kept_state_gives_the_same_bits(muon_rate: float | None) -> None:
    recipe = TrainingRecipe(muon_rate=muon_rate)
    straight, stopped = Transformer(CONFIG), Transformer(CONFIG)
    one, other = Optimiser(straight, recipe), Optimiser(stopped, recipe)
    for seed in (1, 2):
        give_gradients(straight, seed)
        one.step(1.0)
        give_gradients(stopped, seed)
        other.step(1.0)
    resumed = Optimiser(stopped, recipe)
    resumed.load_state({key: tensor.clone() for key, tensor in other.state().items()})
    for seed in (3, 4):
        give_gradients(straight, seed)
        one.step(1.0)
        give_gradients(stopped, seed)
        resumed.step(1.0)
    assert all(torch.equal(a, b) for a, b in zip(straight.parameters(), stopped.parameters(), strict=True))
