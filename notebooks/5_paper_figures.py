# %% [markdown]
# # The paper's main figures
#
# *Understanding Addition and Subtraction in Transformers* shows an algorithm at work, what nodes carry, and causal
# experiments. Here are the same figures for models that ship with carrylens, each from saved evidence.

# %%
import carrylens as cl

# %% [markdown]
# ## The algorithm at work: addition, and subtraction with a negative answer

# %%
cl.trace("33333+66667")

# %%
cl.trace("325-329")

# %% [markdown]
# ## What the nodes of a subtraction model carry

# %%
cl.map("sub_d6_l2_h3_w96_t5K_s1", quick=True)

# %% [markdown]
# ## Where the heads of an addition model attend

# %%
cl.attention("add_d5_l2_h3_w96_t2K_s1", "55555+44448")

# %% [markdown]
# ## The causal experiments
#
# Each has a matched null, and each could have failed. The last column says what was found.

# %%
outcomes = cl.battery("add_d6_l2_h3_w96_t2K_s1")
outcomes

# %% [markdown]
# One of them with its figure:

# %%
cl.battery("add_d6_l2_h3_w96_t2K_s1", outcomes[0].card.name)

# %% [markdown]
# ## Change something
#
# Choose another experiment by its name, or another model: `carrylens models` lists them.

# %%
[outcome.card.name for outcome in outcomes]
