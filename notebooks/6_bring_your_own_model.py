# %% [markdown]
# # Bring your own model
#
# A checkpoint from TransformerLens 2 or 4, from GPT-2 code, or a plain state dict becomes a model on which everything
# works. You only have to say what the model is for: an operation, a number of digits, and how questions are written.

# %%
import tempfile
from pathlib import Path

import torch

import carrylens as cl

folder = Path(tempfile.mkdtemp())

# %% [markdown]
# So that this notebook needs no download, we make a checkpoint here: a state dict with TransformerLens's parameter
# names, for a one-digit adder.

# %%
from carrylens.model import to_transformer_lens_state

torch.save(to_transformer_lens_state(cl.plant("add", 1).model), folder / "my_adder.pt")

# %% [markdown]
# ## Load it
#
# With `folder=`, the model is also saved as a model folder that every command accepts.
# `carrylens import my_adder.pt --digits 1` does the same.

# %%
mine = cl.load(folder / "my_adder.pt", task="add", digits=1, folder=folder / "my_adder")
mine

# %%
cl.ask(mine, "4+5", "7+8")

# %% [markdown]
# Your habits from TransformerLens work: text where tokens are expected, hook names, stacked weights.

# %%
logits, cache = mine.run_with_cache("7+8")
mine.cfg.n_heads, mine.W_Q.shape, cache["pattern", 0].shape, mine.generate("7+8")

# %% [markdown]
# ## Test, map, settle and judge it

# %%
cl.test(mine, questions=200, per_class=50)

# %%
found = cl.map(mine, quick=True, pairs=False, groups=False)
found

# %% [markdown]
# `settle` tests all variables of the algorithm jointly and gives a verdict; `judge` repeats it from the saved files,
# with every claim about the map. With one digit, left-to-right addition and the rival that looks one column down are
# the same, so this verdict stays open. With two digits or more it can be decided.

# %%
cl.settle(mine, quick=True)

# %%
cl.judge(mine)

# %% [markdown]
# ## Other layouts
#
# Units first, no sign, other tokens: describe the layout, and the weights are checked against it.

# %%
try:
    cl.load(folder / "my_adder.pt", task="add", digits=1, layout={"units_first": True, "sign": False})
except cl.CarryLensError as error:
    print(error)

# %% [markdown]
# ## Change something
#
# Load a checkpoint of your own. If the weights do not show them, give `n_heads=` and `act_fn=`. For a task other than
# arithmetic see `examples/brackets.py`.
