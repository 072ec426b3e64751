"""Progress: how long work tells of itself.

Takes  what is being done, how much of it is done, and how much there is.
Gives  `Progress`, the form of a function that is told so, and `silent`, which does nothing with it.
Never  prints.
"""

from collections.abc import Callable

Progress = Callable[[str, int, int], None]
"""Called with what is being done, how much of it is done and how much there is."""


def silent(_what: str, _done: int, _total: int) -> None:
    """Progress that is not shown."""
