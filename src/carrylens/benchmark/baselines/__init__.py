"""Baselines: other ways to map a model, each given its best threshold on training circuits.

Takes  a model and the algorithm it is supposed to run.
Gives  roles, or scores of which a threshold makes roles.
Never  is weaker than its description: what a method can use it is given.
"""
