"""Model shapes: the configs of models that read `D+D'=` and write a sign and digits.

Takes  digits, layers, heads, widths and a seed; or a config.
Gives  the config of such a model; the number of digits that a config is for.
Never  holds a weight.
"""

from carrylens.arithmetic.layout import sequence_length
from carrylens.arithmetic.model_names import PUBLISHED_WIDTH
from carrylens.arithmetic.tokens import VOCABULARY, answer_positions
from carrylens.errors import CarryLensError
from carrylens.model.config import ModelConfig

HEADS_PER_WIDTH = 3
MLP_RATIO = 4


def arithmetic_config(
    digits: int, n_layers: int, n_heads: int, d_model: int, d_head: int, d_mlp: int, seed: int = 0
) -> ModelConfig:
    """The config of a model of any widths that answers questions of so many digits.

    >>> config = arithmetic_config(6, 2, 3, d_model=96, d_head=32, d_mlp=384)
    >>> config.n_ctx, config.d_vocab, config.reads
    (22, 15, range(13, 21))
    """
    if type(digits) is not int or digits < 1:
        raise CarryLensError(f"digits is {digits!r}. Give a whole number of at least 1.")
    return ModelConfig(
        n_layers=n_layers,
        n_heads=n_heads,
        d_model=d_model,
        d_head=d_head,
        d_mlp=d_mlp,
        n_ctx=sequence_length(digits),
        d_vocab=len(VOCABULARY),
        d_vocab_out=len(VOCABULARY),
        reads=answer_positions(digits),
        seed=seed,
    )


def config_of_width(
    digits: int, n_layers: int, n_heads: int, width: int = PUBLISHED_WIDTH, seed: int = 0
) -> ModelConfig:
    """The published proportions at any width: heads a third as wide as the model, however many there are.

    So four heads are together wider than the model, and a head fits into every model of its width.

    >>> config_of_width(6, 3, 4).d_head * 4
    680
    """
    if type(width) is not int or width < HEADS_PER_WIDTH:
        raise CarryLensError(f"A width of {width!r} leaves no room for a head. Give {HEADS_PER_WIDTH} or more.")
    return arithmetic_config(digits, n_layers, n_heads, width, width // HEADS_PER_WIDTH, MLP_RATIO * width, seed)


def digits_of(config: ModelConfig) -> int:
    """How many digits the operands have that a model of this shape reads.

    >>> digits_of(config_of_width(6, 2, 3, width=96))
    6
    """
    digits = len(config.reads) - 2
    fits = digits >= 1 and config.reads == answer_positions(digits) and config.n_ctx == sequence_length(digits)
    if not fits or {config.d_vocab, config.d_vocab_out} != {len(VOCABULARY)}:
        raise CarryLensError(
            f"A model that has {config.n_ctx} positions, reads {config.reads.start} to {config.reads.stop - 1} of them,"
            f" and knows {config.d_vocab} tokens in and {config.d_vocab_out} out, has another layout than D+D'=A. "
            f"Give one that has 3n + 4, reads 2n + 1 to 3n + 2, and knows {len(VOCABULARY)}."
        )
    return digits
