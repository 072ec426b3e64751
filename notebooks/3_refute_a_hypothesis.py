# %% [markdown]
# # Refute a hypothesis of your own
#
# State how you think a model adds, as variables with parents and rules. carrylens derives what must then be true of
# the model, and judges each claim by the measurements behind its map. A claim that no question could refute counts as
# untested, not as true.

# %%
from dataclasses import replace

import carrylens as cl
from carrylens.arithmetic.algorithm_model import state_algorithm
from carrylens.arithmetic.hypotheses import usual_for
from carrylens.arithmetic.subtasks import same, zero
from carrylens.arithmetic.variables import D_PRIME, SA, SC, SGN, A, D
from carrylens.claims.hypothesis import Hypothesis
from carrylens.tasks.causal import Mechanism

found = cl.map("add_d6_l2_h3_w96_t2K_s1")
found

# %% [markdown]
# ## "It looks one column down"
#
# Each digit depends on its own column and on the carry of the column just below, and on nothing further down.

# %%


def sum_digit(d, e):
    return (d + e) % 10


def carries(d, e):
    return d + e >= 10


def with_carry(digit, carry=0):
    return (digit + carry) % 10


def mechanisms(digits):
    for k in range(digits):
        yield Mechanism(SA[k], (D[k], D_PRIME[k]), sum_digit)
        yield Mechanism(SC[k], (D[k], D_PRIME[k]), carries)
    yield Mechanism(SGN, (), zero)
    yield Mechanism(A[digits], (SC[digits - 1],), same)
    for k in range(digits):
        yield Mechanism(A[k], (SA[k], *SC.below(k)), with_carry)


algorithm = state_algorithm("one column down", found.task.operation, found.task.digits, mechanisms(found.task.digits))
mine = Hypothesis("one column down", algorithm, required=("SA", "A"))
algorithm.answers(found.task.parse(["555555+444448"])).text()

# %% [markdown]
# It gets the long cascade wrong, and the model does not. So the first claim is refuted: the model does not answer as
# this algorithm does. (The line at the top says *not settled*, because no joint test was made for this hypothesis.)

# %%
cl.judge(found, hypothesis=mine)

# %% [markdown]
# ## "The carries are made at the `=` sign"
#
# This hypothesis gives the right answers: it is the usual one, with one more claim about where `ST` is carried. The
# map has nodes that carry `ST` before the `=`, so a claim about position is refuted.

# %%
late = replace(usual_for(found.task), name="carries at =", places={"ST": lambda k: ["="]})
judgement = cl.judge(found, hypothesis=late)
judgement

# %%
claims = judgement.to_pandas()
claims[claims.verdict == "REFUTED"][["sentence", "why"]].head()

# %% [markdown]
# ## Change something
#
# Say that `ST[k]` is carried at `D'k` instead: `places={"ST": lambda k: [f"D'{k}"]}`. Which columns disagree?

# %%
cl.judge(found, hypothesis=replace(late, name="carries in place", places={"ST": lambda k: [f"D'{k}"]}))
