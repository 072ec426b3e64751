# %% [markdown]
# # Find the carry: by hand with hooks, then with `map`
#
# `ST[2]` states whether column 2 makes a carry (1), makes none (0), or passes one on (U). Which node holds it? We
# first search as one would in TransformerLens, and then compare with the map.

# %%
import torch

import carrylens as cl

model = cl.load("add_d6_l2_h3_w96_t2K_s1")
tokens = model.to_tokens("111111+222222")
logits, cache = model.run_with_cache("111111+222222")
cache["pattern", 0].shape, cache["resid_post", 1].shape

# %% [markdown]
# ## By hand
#
# Take pairs of questions: in each, `ST[2]` differs between base and source, and `counterfactual_answer` is what
# the base's answer would be with the source's value. If a node carries `ST[2]`, then replacing its output by its output
# for the source gives that answer.

# %%
pairs = cl.questions("add", 6, count=32, variable="ST[2]", seed=1)
pairs

# %%
base = model.to_tokens([row["base"] for row in pairs])
_, source = model.run_with_cache([row["source"] for row in pairs])
wanted = model.to_tokens([f"{row['base']}={row['counterfactual_answer']}" for row in pairs])[:, 14:]
usual = model.to_tokens([f"{row['base']}={row['base_answer']}" for row in pairs])[:, 14:]


def hit_rate(position, layer, heads):
    """How often the first token that should change becomes the counterfactual one."""
    name = f"blocks.{layer}.attn.hook_z"

    def take(z, hook):
        z[:, position, heads] = source[name][:, position, heads]
        return z

    given = model.run_with_hooks(base, [(name, take)], positions=list(range(13, 21))).argmax(-1)
    first = (wanted != usual).int().argmax(1, keepdim=True)  # later tokens have read the base's own answer
    return (given.gather(1, first) == wanted.gather(1, first)).float().mean().item()


place = {name: at for at, name in enumerate(model.task.layout.place_names)}
with torch.no_grad():
    rates = {
        (name, f"L0H{head}"): hit_rate(place[name], 0, [head]) for name in ("D'3", "D'2", "D'1") for head in range(3)
    }
rates

# %% [markdown]
# Two heads at `D'2` sometimes succeed, the heads at neighbouring positions never. At `D'2` the second operand's digit
# of column 2 is read, so this is the first position where `ST[2]` can be known. Neither head suffices alone. What about
# both together?

# %%
with torch.no_grad():
    together = hit_rate(place["D'2"], 0, [0, 2])
together

# %% [markdown]
# They share the work. But a patch alone is not a finding: how often would the token change anyway, and how many pairs
# of heads would one have to try?

# %% [markdown]
# ## With `map`
#
# The map tests every node for every variable, each with a null on matched questions. Roles are found on one half of
# the questions and confirmed on the other. This map ships with the model; for your own model, `cl.map` makes one.

# %%
roles = cl.map(model).to_pandas()
roles[roles.variable == "ST[2]"].round(2)

# %% [markdown]
# ## Change something
#
# Look for `SA[3]`, the sum digit of column 3: at which position will it be, and why not at `D'3`?

# %%
roles[roles.variable == "SA[3]"].round(2)
