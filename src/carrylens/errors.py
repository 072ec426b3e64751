"""Errors: the one family of mistakes a user can mend.

Takes  what was given, what is wrong with it, what to write instead.
Gives  `CarryLensError`, which the command line prints as one line before it exits with status 2.
Never  wraps a bug of ours: those keep their traceback.
"""


class CarryLensError(ValueError):
    """Something given to carrylens cannot be used; the message says what, why, and what to write instead."""
