"""The family: several models side by side, what holds in every one of them and what varies.

Takes  what was saved about each model: its experiments, its map, the claims about it.
Gives  one table of findings, and from it what holds, what varies and what could not be told.
Never  measures, and never calls a thing the same where one model was not asked.
"""
