"""Decoding: what a model writes on its own, one token after the other.

Takes  a model whose outputs are fed back (the position before a token predicts it), and prompts as token ids.
Gives  the ids that it writes up to the last position whose logits are read.
Never  sees what it should write.
"""

import torch
from jaxtyping import Int
from torch import Tensor

from carrylens.errors import CarryLensError
from carrylens.model.transformer import Transformer


@torch.inference_mode()
def decode_tokens(model: Transformer, prompts: Int[Tensor, "batch pos"]) -> Int[Tensor, "batch pos"]:
    """Greedy decoding: at each place the likeliest token is written down and read again."""
    reads, asked = model.config.reads, prompts.shape[1]
    if not reads.start < asked <= reads.stop:
        raise CarryLensError(
            f"A prompt of {asked} tokens does not end where outputs are read. "
            f"Give {reads.start + 1} tokens, or up to {reads.stop} to have only the last outputs decoded."
        )
    tokens = prompts.to(model.unembed.W_U.device)
    for position in range(asked - 1, reads.stop):
        likeliest = model(tokens, positions=[position]).argmax(-1)
        tokens = torch.cat([tokens, likeliest], dim=1)
    return tokens[:, asked:]
