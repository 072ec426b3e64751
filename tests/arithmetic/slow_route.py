"""The slow and obvious route: what every test of the arithmetic room is held against.

Takes  whole numbers, or the text of a question.
Gives  every value by Python's own integers, counterfactuals one question at a time, classes by walking over strings.
Never  calls the package for a value: only to put digits into `Questions`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from hypothesis import settings
from numpy.typing import NDArray

from carrylens.arithmetic import Questions
from carrylens.arithmetic.algorithm_model import Algorithm
from carrylens.tasks.causal import Mechanism, Rule
from carrylens.tasks.variables import Variable

Numbers = NDArray[Any]
"""Whole numbers: int64 where they fit, Python's own (dtype object) where they do not."""

SLOW_U = 2
PROPERTY = settings(deadline=None, derandomize=True, max_examples=60)

SUM_FAMILIES = ("SA", "SC", "ST", "SV")
DIFFERENCE_FAMILIES = ("MD", "MC", "MB", "MV", "ND", "NC", "NB", "NV")
FAMILIES_OF = {
    "add": SUM_FAMILIES,
    "sub": DIFFERENCE_FAMILIES,
    "mix": SUM_FAMILIES + DIFFERENCE_FAMILIES,
}


@dataclass(frozen=True)
class Sums:
    """Questions as whole numbers."""

    first: Numbers
    second: Numbers
    minus: NDArray[np.bool_]
    digits: int

    def questions(self) -> Questions:
        return Questions(self._columns(self.first), self._columns(self.second), self.minus)

    def _columns(self, numbers: Numbers) -> NDArray[np.int8]:
        columns = [(numbers // 10**k % 10).astype(np.int8) for k in range(self.digits)]
        return np.stack(columns, axis=1)

    def result(self, operation: str) -> Numbers:
        """The exact answers; a model of one operation does that one whatever the operator says."""
        minus = {"add": np.zeros_like(self.minus), "sub": np.ones_like(self.minus), "mix": self.minus}[operation]
        return np.where(minus, self.first - self.second, self.first + self.second)


def sums_of(pairs: Iterable[tuple[int, int, bool]], digits: int) -> Sums:
    rows = list(pairs)
    first, second = np.array([row[0] for row in rows], dtype=object), np.array([row[1] for row in rows], dtype=object)
    return Sums(first, second, np.array([row[2] for row in rows], dtype=np.bool_), digits)


def every_sum(digits: int, minus: bool) -> Sums:
    """All questions of one operation and width."""
    numbers = np.arange(10**digits)
    first, second = np.repeat(numbers, len(numbers)), np.tile(numbers, len(numbers))
    return Sums(first, second, np.full(len(first), minus), digits)


def random_sums(seed: int, count: int, digits: int, minus: bool | None = None) -> Sums:
    """Random questions: int64 up to 18 digits, Python integers above. A third of them have a long cascade in them."""
    random = np.random.default_rng(seed)
    first, second = random.integers(0, 10, (2, count, digits), dtype=np.int8)
    operators = random.random(count) < 0.5 if minus is None else np.full(count, minus)
    alike = (random.random((count, digits)) < 0.85) & (random.random((count, 1)) < 1 / 3)
    second = np.where(alike, np.where(operators[:, None], first, 9 - first), second)
    return Sums(_join(first), _join(second), operators, digits)


def _join(columns: NDArray[np.int8]) -> Numbers:
    wide: Numbers = columns.astype(np.int64 if columns.shape[1] <= 18 else object)
    total = wide[:, 0] * 0
    for k in range(columns.shape[1]):
        total = total + wide[:, k] * 10**k
    return total


def exact(name: str, sums: Sums, operation: str = "mix") -> NDArray[np.int8]:
    """The value of the variable written `name`, such as `ST[3]`, from whole numbers."""
    family, _, rest = name.partition("[")
    if family == "OPR":
        return sums.minus.astype(np.int8)
    if family == "SGN":
        return (sums.result(operation) < 0).astype(np.int8)
    k = int(rest.rstrip("]"))
    if family == "A":
        return (abs(sums.result(operation)) // 10**k % 10).astype(np.int8)
    return np.asarray(_exact_column(family, k, sums)).astype(np.int8)


def _exact_column(family: str, k: int, sums: Sums) -> Any:
    first, second, place = sums.first, sums.second, 10**k
    d, e = first // place % 10, second // place % 10
    low, low_prime = first % (10 * place), second % (10 * place)
    open_above_units = SLOW_U * (k > 0)
    wrapped = (first - second) % 10**sums.digits
    two, two_prime = (low, low_prime) if k == 0 else (low // (place // 10), low_prime // (place // 10))
    return {
        "D": lambda: d,
        "D'": lambda: e,
        "SA": lambda: (d + e) % 10,
        "SC": lambda: d + e >= 10,
        "ST": lambda: (d + e >= 10) + open_above_units * (d + e == 9),
        "SV": lambda: low + low_prime >= 10 * place,
        "MD": lambda: (d - e) % 10,
        "MC": lambda: d < e,
        "MB": lambda: (d < e) + open_above_units * (d == e),
        "MV": lambda: low < low_prime,
        "ND": lambda: (e - d) % 10,
        "NC": lambda: e < d,
        "NB": lambda: (e < d) + open_above_units * (d == e),
        "NV": lambda: low_prime < low,
        "S9": lambda: d + e == 9,
        "SU": lambda: two + two_prime >= (100 if k else 10),
        "C": lambda: low + low_prime >= 10 * place,
        "B": lambda: low < low_prime,
        "R": lambda: wrapped // place % 10,
        "Z": lambda: (first - second) % (10 * place) != 0,
    }[family]()


def texts_of(results: Iterable[Any], digits: int) -> list[str]:
    """Answers as a model writes them: a sign and digits + 1 digits."""
    return [f"{'-' if result < 0 else '+'}{abs(int(result)):0{digits + 1}d}" for result in results]


def slow_run(question: str, operation: str, do: Mapping[str, int] | None = None) -> dict[str, int]:
    """Every variable of the left-to-right algorithm for one question, by name, with those in `do` forced."""
    first, operator, second = re.fullmatch(r"(\d+)([+-])(\d+)=?", question).groups()  # type: ignore[union-attr]
    n, forced, got = len(first), do or {}, dict[str, int]()

    def put(name: str, value: int) -> int:
        return got.setdefault(name, forced.get(name, int(value)))

    put("OPR", operator == "-")
    pairs = [(put(f"D[{k}]", int(first[-1 - k])), put(f"D'[{k}]", int(second[-1 - k]))) for k in range(n)]
    names = FAMILIES_OF[operation]
    for base, binary, tri, resolved in (names[at : at + 4] for at in range(0, len(names), 4)):
        for k, (d, e) in enumerate(pairs):
            x, y = (e, d) if base == "ND" else (d, e)
            makes, passes = (x + y >= 10, x + y == 9) if base == "SA" else (x < y, x == y)
            put(f"{base}[{k}]", (x + y if base == "SA" else x - y) % 10)
            put(f"{binary}[{k}]", makes)
            state = put(f"{tri}[{k}]", SLOW_U if passes and k > 0 else makes)
            put(f"{resolved}[{k}]", got[f"{resolved}[{k - 1}]"] if state == SLOW_U else state)
    adds = operation == "add" or (operation == "mix" and got["OPR"] == 0)
    sign = put("SGN", 0 if adds else got[f"MV[{n - 1}]"])
    put(f"A[{n}]", got[f"SV[{n - 1}]"] if adds else 0)
    for k in range(n):
        base, below = ("SA", "SV") if adds else ("ND", "NV") if sign else ("MD", "MV")
        handed = got[f"{below}[{k - 1}]"] if k else 0
        put(f"A[{k}]", (got[f"{base}[{k}]"] + (handed if adds else -handed)) % 10)
    return got


def slow_answer(question: str, operation: str, do: Mapping[str, int] | None = None) -> str:
    got = slow_run(question, operation, do)
    n = max(int(name[2:-1]) for name in got if name.startswith("A["))
    return "+-"[got["SGN"]] + "".join(str(got[f"A[{k}]"]) for k in range(n, -1, -1))


def inputs_behind(variable: str, digits: int, operation: str) -> set[str]:
    """The inputs that `variable` depends on, by name."""
    family, _, rest = variable.partition("[")
    k = int(rest.rstrip("]")) if rest else digits
    if family in ("D", "D'", "OPR"):
        return {variable}
    if (family, operation) == ("SGN", "add") or (family, operation, k) == ("A", "sub", digits):
        return set()
    lowest, highest = 0, min(k, digits - 1)
    if family in ("SA", "SC", "ST", "MD", "MC", "MB", "ND", "NC", "NB"):
        lowest = k
    if family in ("A", "SGN") and operation != "add":
        highest = digits - 1  # through the sign
    behind = {f"{operand}[{j}]" for j in range(lowest, highest + 1) for operand in ("D", "D'")}
    return behind | ({"OPR"} if family in ("A", "SGN") and operation == "mix" else set())


@dataclass(frozen=True)
class SlowLabels:
    """A question's class and depths; None where a depth does not apply."""

    name: str
    cascade: int | None
    sign: int | None
    borrow: int | None


def slow_labels(question: str) -> SlowLabels:
    """Class and depths, by writing each column as one letter, units first, and looking for runs in that string."""
    first, operator, second = re.fullmatch(r"(\d+)([+-])(\d+)=?", question).groups()  # type: ignore[union-attr]
    columns = [(int(d), int(e)) for d, e in zip(first, second, strict=True)][::-1]
    if operator == "+":
        runs = re.findall("c(9*)", "".join("c" if d + e >= 10 else "9" if d + e == 9 else "." for d, e in columns))
        depth = max(map(len, runs), default=0)
        return SlowLabels(f"S{min(depth, 4) + 1}" if runs else "S0", depth, None, None)
    unpadded = columns.copy()
    while unpadded and unpadded[-1] == (0, 0):
        unpadded.pop()
    sign_runs = re.findall("b(=*)", "".join("b" if d < e else "=" if d == e else "." for d, e in unpadded))
    back_runs = re.findall("b(=*)", "".join("b" if e < d else "=" if d == e else "." for d, e in columns))
    sign, back = (max(map(len, runs), default=0) for runs in (sign_runs, back_runs))
    if int(first) < int(second):
        return SlowLabels(f"N{min(sign, 3) + 1}", None, sign, back)
    return SlowLabels(f"M{min(sign, 3) + 1}" if sign_runs else "M0", None, sign, sign)


def mended(model: Algorithm, variable: Variable, parents: tuple[Variable, ...], rule: Rule) -> Algorithm:
    """`model` with another mechanism for one variable: a lie to be found out."""
    assert variable in model.by_variable
    mechanisms = (
        Mechanism(variable, parents, rule) if mechanism.variable == variable else mechanism
        for mechanism in model.mechanisms
    )
    return replace(model, mechanisms=tuple(mechanisms))


def chi_square(counts: NDArray[Any], expected: NDArray[Any] | float) -> float:
    return float(((counts - expected) ** 2 / expected).sum())


def chi_square_limit(freedom: int) -> float:
    """What chi-square exceeds once in a million fair draws (Wilson and Hilferty's approximation, z = 4.753)."""
    part = 2 / (9 * freedom)
    return float(freedom * (1 - part + 4.753 * part**0.5) ** 3)


def is_share(count: int, total: int, share: float) -> bool:
    """Whether `count` of `total` is within five standard deviations of a binomial share."""
    return abs(count - total * share) <= 5 * (total * share * (1 - share)) ** 0.5
