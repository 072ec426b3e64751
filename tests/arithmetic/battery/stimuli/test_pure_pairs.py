"""Pure pairs turn one branch alone."""

from __future__ import annotations

import numpy as np
import pytest

from carrylens.arithmetic.algorithms import subtasks
from carrylens.arithmetic.battery.stimuli.branches import Branch
from carrylens.arithmetic.battery.stimuli.column_pairs import own_carry, pure_pairs


@pytest.mark.parametrize("branch", list(Branch))
def test_pure_pairs_turn_one_branch_alone(branch: Branch) -> None:
    pairs = pure_pairs(branch, 4, 3, 1, 30, seed=2)
    assert len(pairs) == 30
    base, source = subtasks(pairs.base), subtasks(pairs.source)
    for each in Branch:
        differs = base[each.resolved[2]] != source[each.resolved[2]]
        assert differs.all() if each is branch else not differs.any()
    assert np.array_equal(own_carry(pairs, pairs.source), source[branch.resolved[2]])
