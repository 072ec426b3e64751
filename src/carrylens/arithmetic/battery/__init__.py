"""The battery: the causal experiments of the paper, each done so that it could fail.

Takes  a model, and its node map where there is one.
Gives  for every experiment an `Outcome`: verdict, facts, estimates, what a figure and a table show.
Never  draws, and never says SUPPORTED of what no stimulus could have refuted.

`outcome.py` has the records and needs no PyTorch; `registry.py` lists the experiments; `docs/battery.md` explains each,
and how to add one.
"""
