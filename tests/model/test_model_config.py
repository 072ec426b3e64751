import json
from dataclasses import FrozenInstanceError

import pytest
from hypothesis import given
from hypothesis import strategies as st

from carrylens.errors import CarryLensError
from carrylens.model import ModelConfig

COMPACT = ModelConfig.of_width(digits=6, n_layers=2, n_heads=3, width=96, seed=1)


def edited(**changes: object) -> str:
    fields = json.loads(COMPACT.to_json()) | changes
    return json.dumps({name: value for name, value in fields.items() if value is not None})


def test_no_width_gives_the_published_shape() -> None:
    config = ModelConfig.of_width(digits=6, n_layers=3, n_heads=4)
    assert (config.d_model, config.d_head, config.d_mlp, config.n_ctx) == (510, 170, 2040, 22)
    assert (config.d_vocab, config.eps, config.act_fn) == (15, 1e-5, "relu")
    assert config.init_range == pytest.approx(0.035425, abs=1e-6)


@pytest.mark.parametrize("n_heads", [3, 4])
def test_a_width_keeps_the_published_proportions_however_many_heads_there_are(n_heads: int) -> None:
    config = ModelConfig.of_width(digits=10, n_layers=3, n_heads=n_heads, width=96, seed=372001)
    assert config == ModelConfig(10, 3, n_heads, d_model=96, d_head=32, d_mlp=384, seed=372001)


@pytest.mark.parametrize("width", [2, 0, -96])
def test_a_width_with_no_room_for_a_head_is_refused(width: int) -> None:
    with pytest.raises(CarryLensError, match=f"width of {width} leaves no room for a head"):
        ModelConfig.of_width(6, 2, 3, width=width)


def test_a_model_without_heads_is_refused() -> None:
    with pytest.raises(CarryLensError, match="n_heads is 0"):
        ModelConfig.of_width(6, 2, 0, width=96)


def test_a_config_cannot_be_changed() -> None:
    with pytest.raises(FrozenInstanceError):
        COMPACT.seed = 2  # type: ignore[misc]


@given(*(st.integers(1, 999) for _ in range(6)), st.integers(0, 2**40))
def test_a_config_comes_back_from_json_equal(d: int, la: int, h: int, m: int, e: int, f: int, seed: int) -> None:
    config = ModelConfig(d, la, h, m, e, f, seed)
    assert ModelConfig.from_json(config.to_json()) == config


def test_what_follows_from_the_shape_may_be_left_out_of_the_json() -> None:
    left_out = edited(n_ctx=None, eps=None, d_vocab=None, act_fn=None, init_range=None)
    assert ModelConfig.from_json(left_out) == COMPACT


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("{", "is not JSON"),
        (b"\xff\xfe\x00", "is not JSON"),
        ("[1, 2]", "holds no fields"),
        (edited(digits=None, seed=None), "lacks digits, seed"),
        (edited(n_layer=2), "has n_layer, which no model config has"),
        (edited(n_layers="two"), "n_layers is 'two'. Give a whole number of at least 1"),
        (edited(n_layers=2.0), "n_layers is 2.0"),
        (edited(n_heads=True), "n_heads is True"),
        (edited(d_mlp=0), "d_mlp is 0"),
        (edited(seed=-1), "seed is -1. Give a whole number of at least 0"),
        (edited(n_ctx=21), "says n_ctx is 21. For this shape it is 22"),
        (edited(eps=1e-6), "says eps is 1e-06"),
        (edited(act_fn="gelu"), "says act_fn is 'gelu'"),
    ],
)
def test_json_that_states_no_config_is_refused_in_one_line(text: str | bytes, complaint: str) -> None:
    with pytest.raises(CarryLensError) as caught:
        ModelConfig.from_json(text, source="out/config.json")
    message = str(caught.value)
    assert complaint in message
    assert "out/config.json" in message
    assert "\n" not in message
