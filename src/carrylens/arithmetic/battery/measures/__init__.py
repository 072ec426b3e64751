"""Measures: what several experiments measure in the same way.

Takes  a subject, pairs or questions.
Gives  rates beside their nulls, states, the combiner's layer, useful nodes, probes, verdicts from facts.
Never  draws a stimulus of its own for a verdict.
"""
