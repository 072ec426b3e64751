# %% [markdown]
# # Score your discovery method
#
# A circuit-discovery method says which nodes matter and what they carry. Here the truth is known, because the
# circuits were planted: their weights were computed to run a given circuit. So a method can be scored, yours too.

# %%
import torch

import carrylens as cl
from carrylens.benchmark.method_interface import Found

planted = cl.plant("add", 2)
planted

# %% [markdown]
# A method is a function. It gets a model, its nodes, a task and questions, but never the truth. This one
# zeroes each node and measures how much the logits move.


# %%
@torch.no_grad()
def zero_ablation(given):
    ids, scores = torch.from_numpy(given.task.token_ids(given.draw(32))), {}
    clean = given.model(ids)
    for node in given.nodes:
        place = (slice(None), node.position) + (() if node.is_mlp else (node.head,))

        def silence(write, hook, place=place):
            write = write.clone()
            write[place] = 0
            return write

        point = f"blocks.{node.layer}.{'hook_mlp_out' if node.is_mlp else 'attn.hook_z'}"
        scores[node] = float((given.model.run_with_hooks(ids, [(point, silence)]) - clean).abs().mean())
    return Found(node_scores=scores)


# %% [markdown]
# `quick` takes a few small circuits; `seeds=0` skips the test of how much is found again with other questions. Look at
# the node AUROC: how well the scores separate the circuit's nodes from all others.

# %%
board = cl.benchmark(zero_ablation, suites=["kind"], quick=True, seeds=0)
board

# %%
board.to_pandas()[["method", "suite", "n_circuits", "node_auroc", "rows", "seconds"]]

# %% [markdown]
# ## Change something
#
# Use the mean over the questions instead of zero, or report roles: `Found(roles=(FoundRole.of(node, variable), ...))`
# is scored by precision and recall. Then try `suites=["hostile"]`, whose circuits were made to mislead methods, and
# `cl.benchmark(zero_ablation, "attribution")` to compare with a known method.
