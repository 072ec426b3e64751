"""Model names: parsed, printed, refused."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from carrylens.arithmetic import Operation
from carrylens.arithmetic.model_names import ModelName
from carrylens.errors import CarryLensError

PARTS = st.fixed_dictionaries(
    {
        "digits": st.integers(1, 40),
        "n_layers": st.integers(1, 9),
        "n_heads": st.integers(1, 9),
        "n_steps": st.integers(1, 100_000),
        "seed": st.integers(0, 10**9),
        "width": st.integers(1, 2000),
        "grokfast": st.booleans(),
    }
)


@given(PARTS, st.sampled_from(Operation), st.integers(0, 3))
def test_a_printed_name_parses_to_itself(parts: dict[str, int], operation: Operation, insertion: int) -> None:
    name = ModelName(operation, **parts, insertion=insertion if operation is Operation.MIX else 0)  # type: ignore[arg-type]
    assert ModelName.parse(str(name)) == name


@pytest.mark.parametrize(
    "text",
    [
        "ins1_mix_d6_l3_h4_t40K_s372001",
        "add_d6_l2_h3_w96_t2K_s1",
        "add_d6_l2_h3_t15K_s372001",
        "sub_d10_l2_h3_t75K_gf_s173289",
        "mix_d6_l3_h4_w96_t2500_s372001",
    ],
)
def test_published_and_compact_names_come_back_letter_by_letter(text: str) -> None:
    assert str(ModelName.parse(text)) == text


def test_a_name_without_width_has_the_published_one() -> None:
    assert ModelName.parse("add_d6_l2_h3_t15K_s1").width == 510
    assert ModelName.parse("add_d6_l2_h3_w510_t15K_s1") == ModelName.parse("add_d6_l2_h3_t15K_s1")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "add",
        "add_d6",
        "mul_d6_l2_h3_t15K_s1",
        "add_d06_l2_h3_t15K_s1",
        "add_d6_l2_h3_t15k_s1",
        "add_d6_l2_h3_t15K_s-1",
    ],
)
def test_what_is_no_name_is_refused_with_the_form_to_write(text: str) -> None:
    with pytest.raises(CarryLensError, match="<digits>.*add_d6_l2_h3_w96_t2K_s1"):
        ModelName.parse(text)


@pytest.mark.parametrize("text", ["add_d41_l2_h3_t1K_s1", "add_d0_l2_h3_t1K_s1"])
def test_a_name_with_too_few_or_too_many_digits_is_refused(text: str) -> None:
    with pytest.raises(CarryLensError, match=r"\d+.*40"):
        ModelName.parse(text)


@pytest.mark.parametrize(
    "text", ["add_d6_l0_h3_t1K_s1", "add_d6_l2_h0_t1K_s1", "add_d6_l2_h3_w0_t1K_s1", "add_d6_l2_h3_t0_s1"]
)
def test_a_name_of_an_empty_model_is_refused(text: str) -> None:
    with pytest.raises(CarryLensError, match="l.*h.*w.*t"):
        ModelName.parse(text)


def test_insertion_is_for_mixed_models_only() -> None:
    with pytest.raises(CarryLensError, match="ins1.*mix"):
        ModelName.parse("ins1_add_d6_l2_h3_t1K_s1")
