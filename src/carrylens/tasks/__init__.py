"""Tasks: what a model is for, as variables with parents, a layout of tokens, and populations of questions.

Takes  declared variables with their mechanisms, positions, samplers.
Gives  `Task`: run and `do`, matched stimuli, what is known when, which variables no question can tell apart.
Never  imports torch, or names a digit.

Start reading at `variables.py`, then `causal.py`, `layout.py` and `task.py`.
"""

from carrylens.tasks.batches import Batch
from carrylens.tasks.causal import CausalModel, Mechanism, Values
from carrylens.tasks.equivalence import are_equivalent
from carrylens.tasks.fingerprint import fingerprint
from carrylens.tasks.layout import Layout, Slot
from carrylens.tasks.pairs import Pairs, effect_pairs, interchange_pairs, null_pairs
from carrylens.tasks.samplers import Interleaved, Sampler, Uniform
from carrylens.tasks.task import Condition, Strata, Task
from carrylens.tasks.timeline import Timeline, first_computable, timeline
from carrylens.tasks.variables import UNKNOWN, Family, Variable, VariableKind

__all__ = [
    "UNKNOWN",
    "Batch",
    "CausalModel",
    "Condition",
    "Family",
    "Interleaved",
    "Layout",
    "Mechanism",
    "Pairs",
    "Sampler",
    "Slot",
    "Strata",
    "Task",
    "Timeline",
    "Uniform",
    "Values",
    "Variable",
    "VariableKind",
    "are_equivalent",
    "effect_pairs",
    "fingerprint",
    "first_computable",
    "interchange_pairs",
    "null_pairs",
    "timeline",
]
