"""Saved words: sentences that earlier versions saved, in the words of this one.

Takes  what an outcome of the battery says.
Gives  the same, with words that were replaced since.
Never  changes a figure, or a file.
"""

from __future__ import annotations

import re

_REPLACED = (
    (r"\bSwapped\b", "Interchanged"),
    (r"\bswapped\b", "interchanged"),
    (r"\bleft-to-right account\b", "left-to-right hypothesis"),
    (r"^account$", "hypothesis"),
    (r"\bof the asked branch\b", "of the question's branch"),
    (r"\bwhich operation is asked\b", "which operation the question has"),
    (r"\bwhere nobody reads on\b", "where no later component reads them"),
    (
        r"(?<=[:;] )([^:;]+?) (\d+) to (\d+) of (\d+) told apart",
        r"\1: ours right in \2, the rival in \3, of \4 where they differ",
    ),
)


def in_present_words(says: str) -> str:
    """The sentence as this version would put it.

    >>> in_present_words("against rivals: ripple add 700 to 21 of 835 told apart; swapped there")
    'against rivals: ripple add: ours right in 700, the rival in 21, of 835 where they differ; interchanged there'
    """
    for old, new in _REPLACED:
        says = re.sub(old, new, says)
    return says
