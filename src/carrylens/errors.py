"""Errors: the one family of mistakes a user can mend.

Takes  what was given, what is wrong with it, what to write instead.
Gives  `CarryLensError`, which the command line prints as one line before it exits with status 2.
Never  wraps a bug of ours: those keep their traceback.
"""

_LONGEST_QUOTE, _LONGEST_REASON = 60, 400


class CarryLensError(ValueError):
    """Something given to carrylens cannot be used; the message says what, why, and what to write instead."""


def reason_of(error: BaseException) -> str:
    """What another library's error, or code of the user's, says: on one line, cut short where it is long.

    >>> reason_of(ValueError("no number:\\n  abc"))
    'no number: abc'
    """
    try:
        text = " ".join(str(error).split())
    except Exception:  # code of the user's
        text = "it cannot say why"
    return text if len(text) <= _LONGEST_REASON else text[:_LONGEST_REASON] + "…"


def quote(text: str) -> str:
    """`text` in quotes on one line, cut short where it is long, for an error message."""
    return repr(text if len(text) <= _LONGEST_QUOTE else text[:_LONGEST_QUOTE] + "…")
