"""Alignment: one site for each variable of an algorithm, chosen on some questions and tested jointly on others.

Takes  a model, its task, and an algorithm with the families that must be found.
Gives  in reading order: `targets.py` what needs a site, `trial.py` random interventions on several targets at once,
       `start.py` first guesses, `fit.py` the search, `joint_test.py` held-out rates, `deviations.py` where it fails.
Never  tests on questions that it chose sites with.
"""
