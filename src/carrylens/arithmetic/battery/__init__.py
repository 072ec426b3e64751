"""The battery: the causal experiments of the paper, each done so that it could fail.

Takes  a model, and its node map where there is one.
Gives  for every experiment an `Outcome`: verdict, facts, estimates, what a figure and a table show; and findings, typed
       values that are compared between models.
Never  draws, and never says SUPPORTED of what no stimulus could have refuted.

One folder an experiment; `stimuli/` and `measures/` hold what several share. `outcome.py` and `findings.py` have the
records and need no PyTorch; `registry.py` lists the experiments, `docs/battery.md` their
pages.
"""
