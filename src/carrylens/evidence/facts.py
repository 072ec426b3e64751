"""Facts: what was measured, kept so that it can be judged again without a model.

Takes  a rate, its null, and how both were come by.
Gives  `Fact`, and `facts.jsonl`: one fact a line.
Never  keeps an effect without its null. A null of no questions was not measured: the effect was too small to count.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from carrylens.evidence.rates import Rate, p_above
from carrylens.files import write_whole
from carrylens.folders import ZIPPED, is_zipped, read_checked, unzipped
from carrylens.json_records import Schema, to_text

FACTS = "facts.jsonl"


@dataclass(frozen=True)
class Fact:
    """One measured effect beside its matched null.

    `about` says what the effect is of, such as {"nodes": "P9L0H1", "variable": "ST[3]", "digit": 4}; `stimuli` how the
    questions were drawn, so that they can be drawn again. `p` is not corrected: that belongs to a family of tests.

    >>> fact = Fact("swap", {"variable": "ST[3]"}, Rate(60, 64), Rate(1, 64), {"seed": 1})
    >>> fact.p < 1e-20
    True
    """

    kind: str
    about: Mapping[str, object]
    effect: Rate
    null: Rate
    stimuli: Mapping[str, object] = field(default_factory=dict)

    @property
    def p(self) -> float:
        """The chance of such an effect if it were like the null."""
        return p_above(self.effect, self.null)

    def to_json(self) -> str:
        """The fact as one line."""
        return to_text(self, sort_keys=True)

    @classmethod
    def from_json(cls, line: str) -> Fact:
        """The fact that `to_json` wrote.

        >>> fact = Fact("swap", {"variable": "ST[3]"}, Rate(60, 64), Rate(1, 64))
        >>> Fact.from_json(fact.to_json()) == fact
        True
        """
        return FACT_SCHEMA.decode(line, "This line")


FACT_SCHEMA = Schema(Fact, "fact", "Restore the file, or measure again.")


def write_facts(path: Path, facts: Iterable[Fact]) -> None:
    """Write the facts, all or none."""
    write_whole(path, "".join(fact.to_json() + "\n" for fact in facts).encode())


def read_facts(path: Path) -> list[Fact]:
    """The facts in a file, or in the compressed one of that name with .gz, as they were sealed if they were."""
    packed = path.with_name(f"{path.name}{ZIPPED}")
    if is_zipped(path.parent, path.name):
        return FACT_SCHEMA.decode_lines(unzipped(read_checked(packed)[0], packed), str(packed))
    return FACT_SCHEMA.decode_lines(read_checked(path, "Map the model first.")[0], str(path))
