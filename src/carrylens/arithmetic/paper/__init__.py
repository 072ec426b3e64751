"""The paper, answered: every claim, table, figure and number of it, in its order, with ours beside it.

Takes  what was saved about models.
Gives  an answer to each claim: agrees, differs, open, cannot be compared, or not measured yet.
Never  states a result that is typed in: an answer is read off saved files, or computed from definitions.
"""
