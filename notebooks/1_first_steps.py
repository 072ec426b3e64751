# %% [markdown]
# # First steps
#
# A small transformer adds two six-digit numbers. Does it run an algorithm that we know, and how sure can we be?
# This notebook loads a model, asks it questions, tests it, and shows what each of its nodes (a head or MLP at one
# position) carries. It takes half a minute.

# %%
import carrylens as cl

model = cl.load("add_d6_l2_h3_w96_t2K_s1")
model

# %% [markdown]
# It answers token by token. `555555+444448` is hard: one carry has to travel through five columns that each sum to 9.

# %%
cl.ask(model, "555555+444448", "123456+654321", "999999+1")

# %% [markdown]
# How would an algorithm do it? Each column yields `1` (a carry), `0` (no carry) or `U` (uncertain: it depends on the
# column to its right). The question is read from left to right, so `U` stays open until a lower column decides it.

# %%
cl.trace("555555+444448")

# %% [markdown]
# How often is the model wrong? This test ships with the model: more than three million questions.

# %%
cl.test(model)

# %% [markdown]
# What does each node carry? Each cell names a variable. It means: if the node's output is replaced by its output for
# another question, the answer changes exactly as if that variable had the other question's value. Hover over a chip to
# see the evidence.

# %%
found = cl.map(model)
found

# %% [markdown]
# And the verdict: does the model run the algorithm? It rests on a joint test of all variables at once, which
# `cl.settle` measured for this model. Below it are the claims about the map, tested one variable at a time.

# %%
cl.judge(model, save=False)

# %% [markdown]
# ## Change something
#
# Load another model, such as `add_d5_l1_h3_w96_t5K_s1`, which has only one layer. `cl.judge` says what it lacks.
# `cl.explore(model)` shows the whole model in this notebook, so that you can ask it questions and intervene on it.

# %%
cl.judge("add_d5_l1_h3_w96_t5K_s1", save=False)
