"""Text values: small frozen values that people and files write as text.

Takes  their parts, or text.
Gives  `TextValue`, of which nodes and variables are kinds.
Never  imports more than the standard library.
"""

from __future__ import annotations

from dataclasses import FrozenInstanceError
from typing import Any


class TextValue:
    """A frozen value of a few parts that files hold as text: `str` writes it, `parse` reads it.

    It is no dataclass, because msgspec would write and read the parts of one. Its hash is worked out once: such values
    are keys nearly everywhere.
    """

    __slots__ = ("_hash",)
    _hash: int

    @classmethod
    def parse(cls, text: str) -> Any:
        """The value that `text` names."""
        raise NotImplementedError

    def __eq__(self, other: object) -> bool:
        return self is other or (type(self) is type(other) and self.__dict__ == other.__dict__)

    def __hash__(self) -> int:
        try:
            return self._hash
        except AttributeError:
            object.__setattr__(self, "_hash", hash(tuple(self.__dict__.values())))
            return self._hash

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), tuple(self.__dict__.values())  # another process has other hashes

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{name}={part!r}' for name, part in self.__dict__.items())})"

    def __setattr__(self, name: str, value: object) -> None:
        raise FrozenInstanceError(f"{name} of {self} cannot be set")

    def __delattr__(self, name: str) -> None:
        raise FrozenInstanceError(f"{name} of {self} cannot be dropped")
