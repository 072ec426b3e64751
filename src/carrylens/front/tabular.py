"""Tabular: what the results of the front door share.

Takes  a record of another room.
Gives  `Tabular`, which turns rows into a pandas DataFrame; `view_of`, which gives a record a class that draws itself.
Never  imports PyTorch, or pandas before it is wanted.
"""

from __future__ import annotations

from typing import Any, TypeVar

import msgspec

from carrylens.report.notebook.html_parts import frame_of

View = TypeVar("View")


def view_of(kind: type[View], record: Any, **more: Any) -> View:
    """The record as one of `kind`, a class made from the record's own."""
    if isinstance(record, msgspec.Struct):
        return kind(**{name: getattr(record, name) for name in record.__struct_fields__})
    made = object.__new__(kind)
    vars(made).update(vars(record), **more)
    return made


class Tabular:
    """What has rows: they become a pandas DataFrame where pandas is installed."""

    def rows(self) -> list[dict[str, Any]]:
        """The rows as plain dictionaries."""
        raise NotImplementedError

    def to_pandas(self) -> Any:
        """The rows as a pandas DataFrame."""
        return frame_of(self.rows())
