# %% [markdown]
# # First steps
#
# A small transformer adds two numbers of six digits. Does it run an algorithm that we know, and how sure are we?
# This notebook loads a model, asks it, tests it, and shows what each of its nodes carries. It takes half a minute.

# %%
import carrylens as cl

model = cl.load("add_d6_l2_h3_w96_t2K_s1")
model

# %% [markdown]
# It answers token by token. `555555+444448` is hard: one carry has to travel through five columns that sum to 9.

# %%
cl.ask(model, "555555+444448", "123456+654321", "999999+1")

# %% [markdown]
# How would an algorithm do it? Each column says `1` (a carry), `0` (none) or `U` (it depends on the column to its
# right). The question is read from left to right, so `U` stays open until a lower column settles it.

# %%
cl.trace("555555+444448")

# %% [markdown]
# How often is the model wrong? This test came with it: three million questions and more of every class.

# %%
cl.test(model)

# %% [markdown]
# What does each node carry? A cell names the variable: if the node takes what it writes for another question, the
# answer changes just as it would if that variable had the other question's value. Point at a chip for its evidence.

# %%
found = cl.map(model)
found

# %% [markdown]
# And the verdict: is everything there that the algorithm needs?

# %%
cl.judge(found)

# %% [markdown]
# ## Change something
#
# Load another model, such as `add_d5_l1_h3_w96_t5K_s1`, which has one layer only. `cl.judge` says what it lacks.
# `cl.explore(model)` shows the whole model in this notebook, to be asked, watched and ablated.

# %%
cl.judge("add_d5_l1_h3_w96_t5K_s1", save=False)
