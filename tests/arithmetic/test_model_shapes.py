from dataclasses import replace

import pytest

from carrylens.arithmetic.model_shapes import arithmetic_config, config_of_width, digits_of
from carrylens.errors import CarryLensError


def test_no_width_gives_the_published_shape() -> None:
    config = config_of_width(digits=6, n_layers=3, n_heads=4)
    assert (config.d_model, config.d_head, config.d_mlp, config.n_ctx) == (510, 170, 2040, 22)
    assert (config.d_vocab, config.d_vocab_out, config.eps, config.act_fn) == (15, 15, 1e-5, "relu")
    assert (config.normalization, config.reads) == ("LN", range(13, 21))
    assert config.init_range == pytest.approx(0.035425, abs=1e-6)


@pytest.mark.parametrize("n_heads", [3, 4])
def test_a_width_keeps_the_published_proportions_however_many_heads_there_are(n_heads: int) -> None:
    config = config_of_width(digits=10, n_layers=3, n_heads=n_heads, width=96, seed=372001)
    assert config == arithmetic_config(10, 3, n_heads, d_model=96, d_head=32, d_mlp=384, seed=372001)


@pytest.mark.parametrize("width", [2, 0, -96])
def test_a_width_with_no_room_for_a_head_is_refused(width: int) -> None:
    with pytest.raises(CarryLensError, match=rf" {width}\b.*head"):
        config_of_width(6, 2, 3, width=width)


def test_a_model_without_heads_or_digits_is_refused() -> None:
    with pytest.raises(CarryLensError, match=r"n_heads.*\b0\b"):
        config_of_width(6, 2, 0, width=96)
    with pytest.raises(CarryLensError, match=r"digits.*\b0\b"):
        config_of_width(0, 2, 3, width=96)


@pytest.mark.parametrize("digits", [1, 2, 6, 20])
def test_the_digits_are_read_back_from_the_shape(digits: int) -> None:
    assert digits_of(config_of_width(digits, 2, 3, width=24)) == digits


@pytest.mark.parametrize(
    "change",
    [{"n_ctx": 23}, {"reads": range(13, 22)}, {"reads": range(12, 20)}, {"d_vocab": 12}, {"d_vocab_out": 10}],
    ids=str,
)
def test_a_shape_with_another_layout_has_no_digits(change: dict[str, object]) -> None:
    config = replace(config_of_width(6, 2, 3, width=24), **change)  # type: ignore[arg-type]
    with pytest.raises(CarryLensError, match=r"D\+D'=A"):
        digits_of(config)
