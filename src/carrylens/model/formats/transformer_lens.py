"""TransformerLens: state dicts of a `HookedTransformer` (1.x, 2.x), and what `tl_named_parameters` of 3.x and 4.x has.

Takes  weights under names such as `blocks.0.attn.W_Q`, with the masks that are saved beside them.
Gives  the weights alone; their names are ours.
Never  keeps an MLP that is not there: for a model of attention only, 3.x and 4.x name MLPs that are zero.
"""

import re
from collections.abc import Mapping

from torch import Tensor

from carrylens.model.weights import without_masks

ACT_FN = "relu"
"""The library's default."""

_MLP = re.compile(r"blocks\.\d+\.mlp\.")


def fits(state: Mapping[str, Tensor]) -> bool:
    """Whether the names are TransformerLens's."""
    return "embed.W_E" in state or "blocks.0.attn.W_Q" in state


def to_canonical(state: Mapping[str, Tensor], n_heads: int | None, source: str) -> dict[str, Tensor]:  # noqa: ARG001
    """The weights under our names; heads are seen in them."""
    weights = without_masks(state)
    mlps = {name for name in weights if _MLP.match(name)}
    has_first_norms_only = "blocks.0.ln1.w" in weights and not any(".ln2." in name for name in weights)
    if has_first_norms_only and not any(bool(weights[name].any()) for name in mlps):
        return {name: tensor for name, tensor in weights.items() if name not in mlps}
    return weights
