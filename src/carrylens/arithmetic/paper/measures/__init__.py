"""Measures: the measurements that the paper's claims need and no experiment of the battery has.

Takes  a model with its map.
Gives  rates, each beside its null.
Never  says what they mean: the claims do.
"""
