"""Interchanged outputs: what must be put out when some variables take their values from other questions, row by row.

Takes  a causal model, base questions, and for each variable its values elsewhere with the rows that take them.
Gives  the exact counterfactual outputs, each as a reader of the base's own earlier outputs must put it out.
Never  runs a network.

`CausalModel.run` forces a variable in every row; here every row has its own set of variables, and an output may read a
variable from one place while another output reads it from another place.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from carrylens.tasks.batches import Batch, Column, Columns
from carrylens.tasks.causal import CausalModel
from carrylens.tasks.variables import Variable


@dataclass(frozen=True, eq=False)
class Taken:
    """`variable` has `values` in the `rows` that are set, for `outputs`; none named means for all."""

    variable: Variable
    values: Column
    rows: NDArray[np.bool_]
    outputs: tuple[Variable, ...] = ()

    def serves(self, output: Variable) -> bool:
        """Whether `output` reads the variable from here."""
        return not self.outputs or output in self.outputs


def interchanged_outputs(model: CausalModel, base: Batch, taken: Sequence[Taken], *, fed_back: bool = False) -> Columns:
    """The outputs for each row of `base` with what it takes: axes [batch, output]; see `interchanged_values`."""
    values = interchanged_values(model, base, taken, fed_back=fed_back)
    return np.stack([values[output][output] for output in model.outputs], axis=1)


def interchanged_values(
    model: CausalModel, base: Batch, taken: Sequence[Taken], *, fed_back: bool = False
) -> dict[Variable, dict[Variable, Column]]:
    """For each output the values of all variables that it is made from, in each row of `base` with what it takes.

    An output that later ones depend on was put out before them. They read the base's own, as a network does that is
    given the base's outputs; with `fed_back` they read the one that was put out, as a network does that reads what it
    wrote itself. An output that is taken for them counts in either case. Of several that a row takes for one variable
    the last counts.
    """
    own = model.run(base)
    found = dict[Variable, dict[Variable, Column]]()
    for output in model.outputs:
        read = [each for each in taken if each.serves(output)]
        emitted = [each for each in model.steering if each in found]
        held = {each: found[each][each] if fed_back else own[each] for each in emitted}
        found[output] = _values(model, base, output, read, held)
    return found


def _values(
    model: CausalModel, base: Batch, output: Variable, taken: Sequence[Taken], held: dict[Variable, Column]
) -> dict[Variable, Column]:
    needed = {output, *model.ancestors(output)}
    values: dict[Variable, Column] = {}
    for variable in model.variables:
        if variable not in needed:
            continue
        mechanism = model.by_variable.get(variable)
        if variable in held:
            value = held[variable]
        elif mechanism is None:
            value = base.column(variable)
        else:
            result = mechanism.rule(*[values[parent] for parent in mechanism.parents])
            value = np.broadcast_to(np.asarray(result, dtype=np.int8), (len(base),))
        for each in taken:
            if each.variable == variable:
                value = np.where(each.rows, each.values, value)
        values[variable] = value
    return values
