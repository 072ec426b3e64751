"""What the tests of the model room share: small models with no weight left at its default, and tokens for them."""

from collections.abc import Callable

import pytest
import torch
from torch import Tensor

from carrylens.arithmetic.model_shapes import arithmetic_config
from carrylens.model import Transformer

MakeModel = Callable[..., Transformer]


@pytest.fixture(autouse=True, scope="session")
def one_thread() -> None:
    """Models this small are slowed fifty times by threads that wait for each other on a busy machine."""
    torch.set_num_threads(1)


@pytest.fixture
def make_model() -> MakeModel:
    def make(
        n_layers: int = 2, n_heads: int = 3, d_head: int = 4, digits: int = 2, dtype: torch.dtype = torch.float64
    ) -> Transformer:
        config = arithmetic_config(digits, n_layers, n_heads, d_model=12, d_head=d_head, d_mlp=20, seed=n_layers)
        model = Transformer(config).to(dtype)
        generator = torch.Generator().manual_seed(7)
        with torch.no_grad():
            for parameter in model.parameters():
                parameter.add_(0.3 * torch.randn(parameter.shape, generator=generator).to(dtype))
        return model

    return make


@pytest.fixture
def model(make_model: MakeModel) -> Transformer:
    return make_model()


@pytest.fixture
def tokens(model: Transformer) -> Tensor:
    return torch.randint(15, (5, model.config.n_ctx), generator=torch.Generator().manual_seed(3))
