"""Fingerprints: by which a saved map knows the causal model that it was made for.

Takes  a causal model.
Gives  one hash of its names, values, wiring, and what every rule makes of its parents' values.
Never  depends on where a rule is written, or how.
"""

from __future__ import annotations

import hashlib
import json
from functools import lru_cache
from math import prod

import numpy as np

from carrylens.tasks.causal import CausalModel, Mechanism
from carrylens.tasks.timeline import parent_combinations

_MOST = 20_000  # combinations of parents' values; a rule with more of them is tried on as many drawn ones


@lru_cache(maxsize=256)
def fingerprint(model: CausalModel) -> str:
    """The hash of a causal model: the same for two that read, compute and put out the same."""
    digest = hashlib.sha256()
    names = {
        "inputs": [str(each) for each in model.inputs],
        "outputs": [str(each) for each in model.outputs],
        "fixed": [[str(variable), value] for variable, value in model.fixed],
        "values": {str(each): model.values_of(each) for each in model.variables},
        "wiring": [[str(each.variable), *map(str, each.parents)] for each in model.mechanisms],
    }
    digest.update(json.dumps(names, sort_keys=True).encode())
    for mechanism in model.mechanisms:
        digest.update(_rule_bytes(model, mechanism))
    return digest.hexdigest()


def _rule_bytes(model: CausalModel, mechanism: Mechanism) -> bytes:
    values = [model.values_of(parent) for parent in mechanism.parents]
    if prod(map(len, values)) <= _MOST:
        combinations = parent_combinations(model, mechanism)
    else:
        random = np.random.default_rng(0)
        combinations = np.stack([random.choice(np.array(each, dtype=np.int8), _MOST) for each in values], axis=1)
    result = np.asarray(mechanism.rule(*combinations.T)).astype(np.int8)
    return np.ascontiguousarray(np.broadcast_to(result, (len(combinations),))).tobytes()
