"""The interchange pass against a pass under hooks, for every shape."""

import pytest
import torch
from torch import Tensor

from carrylens.model import ModelConfig
from carrylens.model.hooks import HookFunction, HookPoint
from carrylens.model.interchange_pass import MEAN, OWN, Sources, clean_pass, interchange_pass
from carrylens.model.transformer import Transformer
from model.shapes import SHAPES

N_ROWS, OFFSETS = 7, (1, 3)


def random_model(config: ModelConfig) -> Transformer:
    torch.manual_seed(0)
    model = Transformer(config)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(torch.randn(parameter.shape) * 0.2)
    return model


def under_hooks(model: Transformer, tokens: Tensor, slots: Tensor) -> Tensor:
    """The slow route: every row by itself, its nodes' writes taken one by one from the other row's cache."""
    _, cache = model.run_with_cache(tokens)

    def taken(row: int, point: str, position: int, node: tuple[int, ...]) -> Tensor | None:
        slot = int(slots[(row, position, *node)])
        if slot == OWN:
            return None
        every = cache[point][:, position] if "mlp" in point else cache[point][:, position, node[1]]
        return every.mean(0) if slot == MEAN else every[(row + OFFSETS[slot]) % N_ROWS]

    def hook_for(row: int) -> HookFunction:
        def replace(activation: Tensor, hook: HookPoint) -> Tensor:
            changed, layer = activation.clone(), hook.layer()
            for position in range(activation.shape[1]):
                nodes = [(layer, -1)] if "mlp" in hook.name else [(layer, h) for h in range(activation.shape[2])]
                for node in nodes:
                    value = taken(row, hook.name, position, node)
                    if value is not None and "mlp" in hook.name:
                        changed[0, position] = value
                    elif value is not None:
                        changed[0, position, node[1]] = value
            return changed

        return replace

    def picked(name: str) -> bool:
        return name.endswith(("hook_z", "hook_mlp_out"))

    rows = [model.run_with_hooks(tokens[row : row + 1], [(picked, hook_for(row))]) for row in range(N_ROWS)]
    reads = model.config.reads
    return torch.cat(rows)[:, reads.start : reads.stop]


@pytest.mark.parametrize("shape", SHAPES)
def test_it_gives_what_hooks_give(shape: str) -> None:
    config = SHAPES[shape]
    model, generator = random_model(config), torch.Generator().manual_seed(3)
    tokens = torch.randint(0, config.d_vocab, (N_ROWS, config.n_ctx), generator=generator)
    shape_of_slots = (N_ROWS, config.n_ctx, config.n_layers, config.n_heads + 1)
    slots = torch.randint(MEAN, len(OFFSETS), shape_of_slots, generator=generator)
    with torch.no_grad():
        logits, writes = clean_pass(model, tokens)
        reads = config.reads
        assert torch.allclose(logits, model(tokens)[:, reads.start : reads.stop], atol=1e-4)
        found = interchange_pass(model, tokens, Sources(writes, slots, OFFSETS))
        assert torch.allclose(found, under_hooks(model, tokens, slots), atol=1e-4)
        assert not torch.allclose(found, logits, atol=1e-2), "something was replaced"


def test_gradients_flow_through_both_passes() -> None:
    config = SHAPES["plain"]
    model = random_model(config)
    tokens = torch.randint(0, config.d_vocab, (N_ROWS, config.n_ctx))
    slots = torch.full((N_ROWS, config.n_ctx, config.n_layers, config.n_heads + 1), OWN)
    slots[:, :, 0] = 0  # all of layer 0 comes from another row, so only the clean pass trains its queries
    _, writes = clean_pass(model, tokens)
    interchange_pass(model, tokens, Sources(writes, slots, OFFSETS)).square().sum().backward()  # type: ignore[no-untyped-call]
    assert model.get_parameter("blocks.0.attn.W_Q").grad is not None
    assert float(model.get_parameter("blocks.0.attn.W_Q").grad.abs().sum()) > 0  # type: ignore[union-attr]
