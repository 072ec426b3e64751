"""Settings: how much evidence every experiment of the battery gathers.

Takes  whether it is the quick form, and a seed.
Gives  `BatterySettings`: counts, and a seed of its own for every use.
Never  changes with the model.
"""

from __future__ import annotations

import zlib
from dataclasses import asdict, dataclass


@dataclass(frozen=True)
class BatterySettings:
    """How much evidence is gathered: `n_pairs` for each cell of an experiment, `n_questions` where whole questions are
    asked, `n_reference` for means, `n_draws` random sets or shuffles, `n_train` for what is fitted.
    """

    quick: bool = False
    n_pairs: int = 128
    n_questions: int = 512
    n_reference: int = 512
    n_draws: int = 40
    n_train: int = 1024
    seed: int = 0

    @classmethod
    def chosen(cls, seed: int = 0, *, quick: bool = False) -> BatterySettings:
        """The full form, or the quick one."""
        return cls(True, 40, 192, 256, 10, 512, seed) if quick else cls(seed=seed)

    def seed_of(self, *words: object) -> int:
        """A seed of its own for every use, the same each time.

        >>> BatterySettings().seed_of("probes", "train") == BatterySettings().seed_of("probes", "test")
        False
        """
        return zlib.crc32(" ".join(map(str, (*words, self.seed))).encode())

    def plain(self) -> dict[str, object]:
        """The settings as plain data."""
        return asdict(self)
