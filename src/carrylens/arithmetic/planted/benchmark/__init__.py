"""Arithmetic in the benchmark: planted circuits that methods are scored on, and controls in which nothing is right.

Takes  dials, operations and digits.
Gives  circuits of known truth, models that hold nothing, wrong hypotheses, and the paper's search as a method.
Never  scores: `carrylens/benchmark/` does.
"""
