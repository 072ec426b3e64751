"""Calibration: how right methods of circuit discovery are, on planted circuits whose truth is known.

Takes  settings of planted circuits, and methods that map a model.
Gives  precision and recall of each method, how often it finds what is not there, and how sure a role may be called.
Never  shows a method the truth, and never chooses a threshold on a circuit that is scored.
"""
