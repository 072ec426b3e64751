"""Shapes that others' models have and the shipped ones have not."""

from dataclasses import replace

from carrylens.model import ModelConfig

_PLAIN = ModelConfig(2, 3, 12, 4, 20, n_ctx=9, d_vocab=7, d_vocab_out=7, reads=range(4, 8))

SHAPES = {
    "plain": _PLAIN,
    "attention only": replace(_PLAIN, d_mlp=0),
    "attention only, one layer, no norm": replace(_PLAIN, n_layers=1, d_mlp=0, normalization="none"),
    "no norm": replace(_PLAIN, normalization="none"),
    "folded norms": replace(_PLAIN, normalization="LNPre", n_layers=3),
    "GELU": replace(_PLAIN, act_fn="gelu"),
    "GELU by tanh": replace(_PLAIN, act_fn="gelu_new", eps=1e-3),
    "fast GELU, folded norms": replace(_PLAIN, act_fn="gelu_fast", normalization="LNPre"),
    "query tokens, fewer tokens out": replace(_PLAIN, d_vocab_out=5, reads=range(5, 9)),
    "more tokens out": replace(_PLAIN, d_vocab_out=11),
    "heads wider than the model": replace(_PLAIN, n_heads=2, d_head=9),
    "heads narrower than the model": replace(_PLAIN, n_heads=1, d_head=3),
    "read at one place": replace(_PLAIN, reads=range(2, 3)),
    "read everywhere": replace(_PLAIN, reads=range(9)),
    "large vocabulary": replace(_PLAIN, d_vocab=1200, d_vocab_out=1200),
}
