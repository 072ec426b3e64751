"""Model names: what a name such as `ins1_mix_d6_l3_h4_w96_t40K_s372001` says about a model.

Takes  a name, or its parts.
Gives  `ModelName`, parsed and printed.
Never  looks for the model.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from carrylens.arithmetic.questions import Operation, check_digits
from carrylens.errors import CarryLensError, quote

PUBLISHED_WIDTH = 510
"""The d_model of the published models, and of every name without a `w`."""

_NUMBER = "(0|[1-9][0-9]{0,30})"
_NAME = re.compile(
    rf"(?:ins([123])_)?(add|sub|mix)_d{_NUMBER}_l{_NUMBER}_h{_NUMBER}(?:_w{_NUMBER})?_t{_NUMBER}(K?)(_gf)?_s{_NUMBER}",
    re.ASCII,
)
_PLANTED = re.compile(rf"planted_(add|sub|mix)_d{_NUMBER}_l{_NUMBER}_h{_NUMBER}(?:_w{_NUMBER})?_s{_NUMBER}", re.ASCII)


@dataclass(frozen=True)
class ModelName:
    """The parts of a model's name.

    `insertion` says how an addition model was put in: 0 not at all, 1 to start from, 2 and 3 with its heads, or its
    heads and MLPs, put back every 100 steps. `width` is d_model. `grokfast` is the published models' `gf`. A name
    prints in one form only: steps in thousands where they are whole ones, the width where it is not the published one.
    The weights of a `planted` model were computed, not trained: it has no steps.

    >>> name = ModelName.parse("add_d6_l2_h3_w96_t2500_s1")
    >>> name.operation.value, name.digits, name.n_steps, name.width
    ('add', 6, 2500, 96)
    >>> str(ModelName.parse("ins1_mix_d6_l3_h4_t40K_s372001"))
    'ins1_mix_d6_l3_h4_t40K_s372001'
    """

    operation: Operation
    digits: int
    n_layers: int
    n_heads: int
    n_steps: int
    seed: int
    width: int = PUBLISHED_WIDTH
    insertion: int = 0
    grokfast: bool = False
    planted: bool = False

    def __post_init__(self) -> None:
        check_digits(self.digits)
        if self.planted and (self.n_steps or self.insertion or self.grokfast):
            raise CarryLensError(f"{self} was planted, so it had no training. Leave steps and insertions out.")
        least = min(self.n_layers, self.n_heads, self.width, 1 if self.planted else self.n_steps)
        if least < 1 or self.seed < 0:
            raise CarryLensError(
                f"{self} names a model without layers, heads, width or steps. Write 1 or more for l, h, w and t."
            )
        if max(self.n_layers, self.n_heads, self.width, self.n_steps, self.seed) >= 1 << 63:
            raise CarryLensError(f"{quote(str(self))} has a number beyond 64 bits. Write smaller ones.")
        if self.insertion not in (0, 1, 2, 3) or (self.insertion and self.operation is not Operation.MIX):
            raise CarryLensError(
                f"{self} inserts an addition model where nothing is mixed. Write ins1, ins2 or ins3 before mix only."
            )

    @classmethod
    def parse(cls, text: str) -> ModelName:
        """The parts of the name `text`."""
        if planted := _PLANTED.fullmatch(text):
            operation, digits, layers, heads, width, seed = planted.groups()
            shape = (int(digits), int(layers), int(heads), 0, int(seed))
            return cls(Operation(operation), *shape, PUBLISHED_WIDTH if width is None else int(width), planted=True)
        match = _NAME.fullmatch(text)
        if match is None:
            raise CarryLensError(
                f"{quote(text)} is not a model name. Write "
                "[ins1_|ins2_|ins3_]<add|sub|mix>_d<digits>_l<layers>_h<heads>"
                "[_w<width>]_t<steps>[K][_gf]_s<seed>, such as add_d6_l2_h3_w96_t2K_s1."
            )
        insertion, operation, digits, layers, heads, width, steps, thousand, grokfast, seed = match.groups()
        return cls(
            operation=Operation(operation),
            digits=int(digits),
            n_layers=int(layers),
            n_heads=int(heads),
            n_steps=int(steps) * (1000 if thousand else 1),
            seed=int(seed),
            width=PUBLISHED_WIDTH if width is None else int(width),
            insertion=int(insertion or 0),
            grokfast=grokfast is not None,
        )

    def __str__(self) -> str:
        insertion = f"ins{self.insertion}_" if self.insertion else ""
        width = "" if self.width == PUBLISHED_WIDTH else f"_w{self.width}"
        steps = f"{self.n_steps // 1000}K" if self.n_steps % 1000 == 0 else str(self.n_steps)
        grokfast = "_gf" if self.grokfast else ""
        shape = f"d{self.digits}_l{self.n_layers}_h{self.n_heads}{width}"
        if self.planted:
            return f"planted_{self.operation.value}_{shape}_s{self.seed}"
        return f"{insertion}{self.operation.value}_{shape}_t{steps}{grokfast}_s{self.seed}"
