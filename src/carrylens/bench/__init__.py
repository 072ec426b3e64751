"""Benchmarks: how fast carrylens is, both sides of every ratio measured in one run.

Takes  sizes.
Gives  seconds and ratios, with the check that both sides agree.
Never  is imported by another room.
"""
