"""Stimuli: the questions and pairs that several experiments draw.

Takes  branches, digits, seeds.
Gives  branches of the algorithm, column pairs, natural questions.
Never  runs a model.
"""
