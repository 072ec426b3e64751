import json
import re
from dataclasses import FrozenInstanceError, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from carrylens.errors import CarryLensError
from carrylens.model import ModelConfig
from carrylens.model.config import ACT_FNS, NORMALIZATIONS

SMALL = ModelConfig(2, 3, 48, 16, 192, n_ctx=14, d_vocab=12, d_vocab_out=10, reads=range(9, 14), seed=1)
FIRST_VERSION = {
    "digits": 6,
    "n_layers": 2,
    "n_heads": 3,
    "d_model": 96,
    "d_head": 32,
    "d_mlp": 384,
    "seed": 1,
    "d_vocab": 15,
    "n_ctx": 22,
    "eps": 1e-05,
    "act_fn": "relu",
    "init_range": 0.08164965809277261,
}
"""A `config.json` as version 0.1 wrote it."""


def edited(**changes: object) -> str:
    return _without_none(json.loads(SMALL.to_json()) | changes)


def edited_first(**changes: object) -> str:
    return _without_none(FIRST_VERSION | changes)


def _without_none(fields: dict[str, object]) -> str:
    return json.dumps({name: value for name, value in fields.items() if value is not None})


def test_a_config_cannot_be_changed() -> None:
    with pytest.raises(FrozenInstanceError):
        SMALL.seed = 2  # type: ignore[misc]


@given(
    st.lists(st.integers(2, 999), min_size=8, max_size=8),
    st.sampled_from(ACT_FNS),
    st.sampled_from(NORMALIZATIONS),
    st.data(),
)
def test_a_config_comes_back_from_json_equal(sizes: list[int], act_fn: str, norm: str, data: st.DataObject) -> None:
    layers, heads, width, head, mlp, n_ctx, tokens, out = sizes
    start = data.draw(st.integers(0, n_ctx - 1))
    reads = range(start, data.draw(st.integers(start + 1, n_ctx)))
    mlp, seed = data.draw(st.sampled_from([0, mlp])), data.draw(st.integers(0, 2**40))
    config = ModelConfig(layers, heads, width, head, mlp, n_ctx, tokens, out, reads, act_fn, norm, 1e-6, seed)
    assert ModelConfig.from_json(config.to_json()) == config


def test_what_follows_from_the_shape_may_be_left_out_of_the_json() -> None:
    assert ModelConfig.from_json(edited(init_range=None)) == SMALL


def test_a_file_of_the_first_version_gives_the_equal_model() -> None:
    config = ModelConfig.from_json(json.dumps(FIRST_VERSION))
    assert config == ModelConfig(2, 3, 96, 32, 384, 22, 15, 15, range(13, 21), "relu", "LN", 1e-5, 1)
    left_out = edited_first(n_ctx=None, eps=None, d_vocab=None, act_fn=None, init_range=None)
    assert ModelConfig.from_json(left_out) == config


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("{", "JSON"),
        (b"\xff\xfe\x00", "JSON"),
        ("[1, 2]", "fields"),
        (edited(d_vocab=None, seed=None), "d_vocab, seed"),
        (edited(n_layer=2), r"\bn_layer\b"),
        (edited(n_layers="two"), r"n_layers.*'two'.*\b1\b"),
        (edited(n_layers=2.0), r"n_layers.*2\.0"),
        (edited(n_heads=True), "n_heads.*True"),
        (edited(d_mlp=-1), r"d_mlp.*-1.*\b0\b"),
        (edited(d_vocab_out=1), r"d_vocab_out.*\b1\b.*\b2\b"),
        (edited(seed=-1), r"seed.*-1.*\b0\b"),
        (edited(reads=[9, 15]), r"reads.*range\(9, 15\).*0 to 13"),
        (edited(reads=[9, 9]), r"reads.*range\(9, 9\)"),
        (edited(reads=[9, 12, 2]), r"reads.*\[9, 12, 2\]"),
        (edited(reads=9), "reads.*9"),
        (edited(eps=0), r"eps.*\b0\b"),
        (edited(act_fn="silu"), "act_fn.*'silu'.*relu, gelu"),
        (edited(normalization="RMS"), "normalization.*'RMS'.*LN"),
        (edited(init_range=0.1), r"init_range.*0\.1"),
        (edited_first(seed=None), "seed"),
        (edited_first(reads=[1, 2]), "reads"),
        (edited_first(digits=0), r"digits.*\b0\b.*\b1\b"),
        (edited_first(d_mlp=0), r"d_mlp.*\b0\b"),
        (edited_first(n_ctx=21), "n_ctx.*21.*22"),
        (edited_first(eps=1e-6), "eps.*1e-06"),
        (edited_first(act_fn="gelu"), "act_fn.*'gelu'"),
    ],
)
def test_json_that_states_no_config_is_refused_in_one_line(text: str | bytes, complaint: str) -> None:
    with pytest.raises(CarryLensError) as caught:
        ModelConfig.from_json(text, source="out/config.json")
    message = str(caught.value)
    assert re.search(complaint, message)
    assert "out/config.json" in message
    assert "\n" not in message


def test_a_step_between_positions_that_are_read_is_refused() -> None:
    with pytest.raises(CarryLensError, match=r"reads.*range\("):
        replace(SMALL, reads=range(9, 14, 2))
