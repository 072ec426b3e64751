"""Tasks that are no arithmetic, small enough for every question: one feeds its outputs back, one has queries."""

from __future__ import annotations

from functools import cache
from itertools import product

import numpy as np
from numpy.typing import NDArray

from carrylens.tasks.batches import Batch, Columns
from carrylens.tasks.causal import CausalModel, Mechanism
from carrylens.tasks.layout import Layout, Slot
from carrylens.tasks.samplers import population_of
from carrylens.tasks.task import Condition, Strata, Task
from carrylens.tasks.variables import INPUT, OUTPUT, Family, Variable

N_BITS = 6
BIT = Family("B", (0, 1), "a bit", INPUT)
TURN = Family("TURN", (0, 1), "whether the sign is turned", INPUT, labels=("=", "!"))
RUN = Family("R", (0, 1), "parity of the bits up to here")
SIGN = Family("S", (0, 1), "sign, which the others are read with", OUTPUT, labels=("+", "-"))
OUT = Family("O", (0, 1), "parity up to here, as the sign has it", OUTPUT)
B, R, O, S, T = BIT, RUN, OUT, SIGN.variable, TURN.variable  # noqa: E741


def same(value: NDArray[np.int8]) -> NDArray[np.int8]:
    return value


def differ(one: NDArray[np.int8], other: NDArray[np.int8]) -> NDArray[np.int8]:
    return one ^ other


def chosen(last: NDArray[np.int8], first: NDArray[np.int8], turn: NDArray[np.int8]) -> NDArray[np.int8]:
    return (last & first) ^ turn


def parity_mechanisms() -> tuple[Mechanism, ...]:
    """The sign says whether two lower parities are odd, turned by the switch; the upper ones are read with it."""
    half = N_BITS // 2
    running = [Mechanism(R[k], (B[k], *R.below(k)), differ if k else same) for k in range(N_BITS)]
    outputs = [Mechanism(O[k], (R[k], S), differ) for k in range(N_BITS - 1, half - 1, -1)]
    return (*running, Mechanism(S, (R[half - 1], R[0], T), chosen), *outputs)


PARITY = CausalModel(
    "parity with a sign",
    (BIT, TURN, RUN, SIGN, OUT),
    (*(B[k] for k in range(N_BITS - 1, -1, -1)), T),
    (S, *(O[k] for k in range(N_BITS - 1, N_BITS // 2 - 1, -1))),
    parity_mechanisms(),
)
PARITY_LAYOUT = Layout(
    tuple("01=!+->"),
    (
        *(Slot(f"B{k}", input=B[k]) for k in range(N_BITS - 1, -1, -1)),
        Slot("turn", input=T),
        Slot(">", token=">"),
        *(Slot(str(output), output=output) for output in PARITY.outputs),
    ),
    PARITY.families,
)


def by_sign(batch: Batch) -> Strata:
    return Strata(("plain", "turned"), batch.column(T))


@cache
def parity_task() -> Task:
    """Six bits and a switch, four outputs that are fed back."""
    population = population_of(PARITY)
    turned = Condition("turned", population, ((T, 1),), ("R",))
    return Task("parity", PARITY, PARITY_LAYOUT, {"all": population}, by_sign, (turned,))


N_CELLS = 3
THREE = Family("D", (0, 1, 2), "three values", INPUT, labels=("x", "y", "z"))
FIVE = Family("E", (1, 2, 3, 4, 5), "five values, none of them 0", INPUT, labels=tuple("abcde"))
MODE = Family("MODE", (0, 1, 2), "what is added", INPUT, labels=tuple("pqr"))
BACK = Family("BACK", (0, 1), "whether it is read backwards", INPUT, labels=("<", ">"))
SUM = Family("V", (0, 1, 2, 3, 4), "sum modulo 5")
ANSWER = Family("W", (0, 1, 2, 3, 4), "the sum, or what is left of it", OUTPUT)
D, E, V, W, M, K = THREE, FIVE, SUM, ANSWER, MODE.variable, BACK.variable


def added(*parts: NDArray[np.int8]) -> NDArray[np.int8]:
    return sum(parts[1:], parts[0]) % np.int8(5)


def turned_round(value: NDArray[np.int8], back: NDArray[np.int8]) -> NDArray[np.int8]:
    return np.where(back == 1, np.int8(4) - value, value)


def small_enough(batch: Batch) -> NDArray[np.bool_]:
    """Questions whose units are not both high."""
    return batch.column(D[0]) + batch.column(E[0]) <= 5


WHEEL = CausalModel(
    "a wheel of five",
    (THREE, FIVE, MODE, BACK, SUM, ANSWER),
    (*(each[k] for k in range(N_CELLS) for each in (D, E)), M, K),
    tuple(W[k] for k in range(N_CELLS)),
    (
        *(Mechanism(V[k], (D[k], E[k], M, *V.below(k)), added) for k in range(N_CELLS)),
        *(Mechanism(W[k], (V[k], K), turned_round) for k in range(N_CELLS)),
    ),
    fed_back=False,
    domain=small_enough,
)
WHEEL_LAYOUT = Layout(
    (*"xyzabcdepqr<>", "BOS", "END", "?"),
    (
        Slot("begin", token="BOS"),
        *(Slot(f"{each.name}{k}", input=each[k]) for k in range(N_CELLS) for each in (D, E)),
        Slot("mode", input=M),
        Slot("way", input=K),
        *(Slot(f"W{k}", token="?", reads=W[k]) for k in range(N_CELLS)),
        Slot("end", token="END"),
    ),
    WHEEL.families,
    output_vocabulary=tuple("43210"),
)


@cache
def wheel_task() -> Task:
    """Three cells of two families with other numbers of values, two switches, units first, outputs read at queries."""
    return Task("wheel", WHEEL, WHEEL_LAYOUT, {"all": population_of(WHEEL)})


def every_question(model: CausalModel) -> Batch:
    """All questions that the model is for."""
    values = np.array(list(product(*(model.values_of(each) for each in model.inputs))), dtype=np.int8)
    batch = Batch(model.inputs, values)
    return batch[model.admits(batch)]


def slow_values(model: CausalModel, row: Batch, do: dict[Variable, int]) -> dict[Variable, int]:
    """One question, variable by variable."""
    assert len(row) == 1
    found = {variable: do.get(variable, int(row.column(variable)[0])) for variable in model.inputs}
    for mechanism in model.mechanisms:
        parents = [np.array([found[parent]], dtype=np.int8) for parent in mechanism.parents]
        value = int(np.asarray(mechanism.rule(*parents)).reshape(-1)[0])
        found[mechanism.variable] = do.get(mechanism.variable, value)
    return found


def slow_counterfactual(model: CausalModel, variable: Variable, base: Batch, source: Batch) -> Columns:
    """What is put out one after another, by a reader of the base's own outputs that has the source's `variable`."""
    rows = []
    for at in range(len(base)):
        own = slow_values(model, base[at], {})
        forced = {variable: slow_values(model, source[at], {})[variable]}
        row = []
        for place, output in enumerate(model.outputs):
            before = model.outputs[:place] if model.fed_back else ()
            emitted = {each: own[each] for each in before}
            row.append(slow_values(model, base[at], {**emitted, **forced})[output])
        rows.append(row)
    return np.array(rows, dtype=np.int8)
