"""Choices: one of a few words that an option takes.

Takes  an enum and what the user wrote.
Gives  the member.
Never  guesses what was meant.
"""

from __future__ import annotations

from enum import Enum
from typing import TypeVar

from carrylens.errors import CarryLensError, quote

Choice = TypeVar("Choice", bound=Enum)


def choice(kind: type[Choice], text: str, option: str) -> Choice:
    """The member of the enum that `text` names; `option` is what an error calls it."""
    try:
        return kind(text)
    except ValueError:
        choices = " or ".join(str(each.value) for each in kind)
        raise CarryLensError(f"{option} {quote(text)} is not one of the choices. Write {choices}.") from None
