"""Held passes: clean passes by sequence, made once for whatever call needs them first.

Takes  sequences of tokens, and how many bytes may be held.
Gives  one `Book` for all of them, and where in it each sequence stands.
Never  makes a pass again as long as it is held, and never holds more than it may: those used longest ago make room.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence

import numpy as np
import torch
from torch import Tensor

from carrylens.interventions.clean import ROWS, Book, blank_book, book_tensors, sequence_bytes
from carrylens.interventions.parts import Parts
from carrylens.interventions.sequences import Index

_AT_ONCE = ROWS  # sequences whose passes are made before they are put in their places: one pass, copied once


class HeldPasses:
    """Up to `memory` bytes of clean passes of one model, which must not change meanwhile."""

    def __init__(self, memory: int) -> None:
        self._memory = memory
        self._book: Book | None = None
        self._place: OrderedDict[bytes, int] = OrderedDict()  # used last, last

    def find(self, parts: Parts, tokens: Index, make: Callable[[Tensor], Book]) -> tuple[Book, Index]:
        """A book that has all of these distinct sequences, and their places in it; `make` runs those that are new."""
        capacity = self._memory // sequence_bytes(parts)
        if len(tokens) > capacity:
            return make(torch.from_numpy(tokens)), np.arange(len(tokens))
        keys = [row.tobytes() for row in tokens]
        new = [at for at, key in enumerate(keys) if key not in self._place]
        for key in keys:
            if key in self._place:
                self._place.move_to_end(key)
        for at in range(0, len(new), _AT_ONCE):
            some = new[at : at + _AT_ONCE]
            self._add(make(torch.from_numpy(tokens[some])), [keys[each] for each in some], capacity)
        assert self._book is not None
        return self._book, np.array([self._place[key] for key in keys], dtype=np.int64)

    def _add(self, made: Book, keys: Sequence[bytes], capacity: int) -> None:
        if self._book is None:
            self._book = blank_book(made, capacity)
        free = len(self._place)
        for key in keys:
            if free < capacity:
                self._place[key], free = free, free + 1
            else:
                self._place[key] = self._place.popitem(last=False)[1]
        places = torch.tensor([self._place[key] for key in keys], device=made.last.device)
        for whole, part in zip(book_tensors(self._book), book_tensors(made), strict=True):
            whole.index_copy_(0, places, part)
