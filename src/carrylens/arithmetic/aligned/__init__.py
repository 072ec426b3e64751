"""Aligned models: trained ones whose circuit is known because they were trained to have it.

Takes  algorithms and where their variables are to stand.
Gives  in reading order: `named_algorithms.py`, `sites.py`, `suite.py`, `plans.py`, `truth.py`, `shipped.py`.
Never  trains: `training/` does.
"""
