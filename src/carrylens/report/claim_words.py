"""Claim words: what all required claims about a map together come to, as people read it.

Takes  the word that `claims.json` has: present, absent, unclear.
Gives  the words that pages and terminals show.
Never  says that a model runs an algorithm: that is for the joint test, not for claims of one variable at a time.
"""

from __future__ import annotations

_WORDS = {"present": "supported", "absent": "ruled out", "unclear": "not settled"}


def claims_said(saved: str) -> str:
    """What the required claims come to.

    >>> claims_said("unclear")
    'not settled'
    """
    return _WORDS[saved]
