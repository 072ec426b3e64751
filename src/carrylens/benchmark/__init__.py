"""Benchmark: how right methods of circuit discovery are, on models of known truth.

Takes  models of which it is known what every node carries, and methods that map a model.
Gives  precision and recall of each method, how often it finds what is not there, and how sure a role may be called.
Never  shows a method the truth, and never chooses a threshold on a circuit that is scored.

Start reading at `known_truth.py`, then `method_interface.py`, `method_registry.py`, `benchmark_run.py`, `sections.py`.
"""
