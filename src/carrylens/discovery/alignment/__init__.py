"""Alignment: one site for each variable of an algorithm, chosen on some questions and tested jointly on others.

Takes  a model, its task, and an algorithm with the families that must be found.
Gives  in reading order: `targets.py` what needs a site, `subspaces.py` directions of variables that share a node,
       `alignment_task.py` and `placement.py` what is aligned and where, `trial.py` random interventions on several
       targets at once, `start.py` first guesses, `fit.py` the search, `joint_rates.py` and `joint_test.py` held-out
       rates, `deviations.py` where it fails, `aligner.py` the forms of one algorithm, `contest.py` its rivals.
Never  tests on questions that it chose sites with.
"""
