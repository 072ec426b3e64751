"""Foreign weights: a file that someone else saved, whichever known format it is in.

Takes  a file of tensors, or a folder that holds one as Hugging Face saves it; what the weights cannot show.
Gives  the format's name and the weights under our names; a model made of them.
Never  runs what a file holds, and never loads a part of a model for the whole.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from msgspec import Struct
from torch import Tensor

from carrylens.errors import CarryLensError, quote
from carrylens.files import read_whole
from carrylens.json_records import PositiveCount, Schema
from carrylens.model.config import ACT_FNS
from carrylens.model.formats import bridge, gpt2, transformer_lens
from carrylens.model.tensor_files import read_tensors
from carrylens.model.transformer import Transformer
from carrylens.model.weights import infer_config, model_from_weights

_IN_FOLDER = ("model.safetensors", "pytorch_model.bin", "model.pth")


class _Gpt2Config(Struct):
    # What Hugging Face writes beside a GPT-2, as far as it matters here.
    model_type: str | None = None
    n_head: PositiveCount | None = None
    activation_function: str = "gelu_new"
    layer_norm_epsilon: float = 1e-5
    scale_attn_weights: bool = True
    scale_attn_by_inverse_layer_idx: bool = False
    add_cross_attention: bool = False


_SCHEMA = Schema(_Gpt2Config, "config of a GPT-2", "Restore it, or move it away and give n_heads.", others=True)


@dataclass(frozen=True)
class _Format:
    name: str
    fits: Callable[[Mapping[str, Tensor]], bool]
    to_canonical: Callable[[Mapping[str, Tensor], int | None, str], dict[str, Tensor]]
    act_fn: str


_FORMATS = (
    _Format("TransformerLens", transformer_lens.fits, transformer_lens.to_canonical, transformer_lens.ACT_FN),
    _Format("TransformerBridge", bridge.fits, bridge.to_canonical, bridge.ACT_FN),
    _Format("GPT-2", gpt2.fits, gpt2.to_canonical, gpt2.ACT_FN),
)


@dataclass(frozen=True, eq=False)
class ForeignWeights:
    """Weights under our names, and what the format, or a `config.json` beside them, says that they do not show."""

    format: str
    state: dict[str, Tensor]
    act_fn: str
    eps: float = 1e-5


def read_foreign(path: str | Path, n_heads: int | None = None) -> ForeignWeights:
    """The weights in a file or folder; `n_heads` is needed where heads lie side by side and nothing says how many."""
    file = _file(Path(path))
    state = _without_wrapper(read_tensors(file))
    found = next((each for each in _FORMATS if each.fits(state)), None)
    if found is None:
        names = ", ".join(sorted(state)[:3]) or "nothing"
        known = ", ".join(each.name for each in _FORMATS)
        raise CarryLensError(f"{file} holds {quote(names)}, which is none of {known}. Give weights of one of these.")
    beside = _read_config(file.with_name("config.json")) if found.name == "GPT-2" else {}
    n_heads = beside.get("n_head") if n_heads is None else n_heads
    return ForeignWeights(
        found.name,
        found.to_canonical(state, n_heads, str(file)),
        beside.get("activation_function", found.act_fn),
        beside.get("layer_norm_epsilon", 1e-5),
    )


def load_foreign(
    path: str | Path,
    reads: range | None = None,
    *,
    n_heads: int | None = None,
    act_fn: str | None = None,
    normalization: str | None = None,
    eps: float | None = None,
) -> Transformer:
    """A model with the weights in a file or folder; no `reads` are all positions.

    Weights do not show the activation function and LayerNorm's eps: where they are not given, the format's are taken,
    or those of the `config.json` beside a GPT-2.
    """
    found = read_foreign(path, n_heads)
    config = infer_config(
        found.state,
        reads,
        act_fn=act_fn or found.act_fn,
        normalization=normalization,
        eps=found.eps if eps is None else eps,
        source=str(path),
    )
    return model_from_weights(config, found.state, str(path)).eval()


def _without_wrapper(state: Mapping[str, Tensor]) -> dict[str, Tensor]:
    # torch.compile and DataParallel put a word before every name.
    for word in ("_orig_mod.", "module."):
        if all(name.startswith(word) for name in state):
            state = {name.removeprefix(word): tensor for name, tensor in state.items()}
    return dict(state)


def _file(path: Path) -> Path:
    if not path.is_dir():
        return path
    for name in _IN_FOLDER:
        if (path / name).is_file():
            return path / name
    raise CarryLensError(f"{path} holds none of {', '.join(_IN_FOLDER)}. Give a folder that does, or a file.")


def _read_config(path: Path) -> dict[str, Any]:
    # What Hugging Face writes beside a GPT-2. Settings that leave no trace in the weights must be those we compute.
    if not path.is_file():
        return {}
    given = _SCHEMA.decode(read_whole(path), str(path))
    if given.model_type != "gpt2":
        return {}
    silent = {"scale_attn_weights": True, "scale_attn_by_inverse_layer_idx": False, "add_cross_attention": False}
    for name, ours in silent.items():
        if (theirs := getattr(given, name)) != ours:
            raise CarryLensError(f"{path} says {name} is {theirs!r}. Give a model with {ours!r}.")
    if given.activation_function not in ACT_FNS:
        raise CarryLensError(
            f"{path} says activation_function is {given.activation_function!r}. Give one with {', '.join(ACT_FNS)}."
        )
    return {
        "n_head": given.n_head,
        "activation_function": given.activation_function,
        "layer_norm_epsilon": given.layer_norm_epsilon,
    }
