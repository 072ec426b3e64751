"""Planted circuits: models whose weights were computed, so that what they do, and where, is known.

Takes  a circuit description.
Gives  an ordinary model that carries it out, and the truth about it.
Never  guesses, and never trains.
"""
