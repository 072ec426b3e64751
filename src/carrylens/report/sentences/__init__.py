"""Sentences: what came of each experiment, in words.

Takes  what a summary was made of.
Gives  one module an experiment, and `sentence_registry.py`, which knows them all.
Never  measures, or judges.
"""
