"""Pieces: work on many sequences, a few at a time, each CPU thread with pieces of its own.

Takes  a function of sequences, and many sequences.
Gives  its values for all of them, in order.
Never  keeps what a gradient would need, and never lets the number of threads change a bit of the result.

PyTorch's own threads share every single operation and wait for each other after it. That costs more than it gives on
pieces that fit a core's cache, and much more on a machine that does other work too.
"""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

import torch
from torch import Tensor

ROWS = 64
"""Sequences a pass: a layer's hidden states of so many stay near a core. `LOG.md` has the sizes that were tried."""
_DEVICE_ROWS = 4096  # off the CPU, where larger is faster

_AHEAD = 2  # pieces a thread may be ahead of what was taken

Work = Callable[..., Tensor]
"""A function of pieces, one of each tensor."""
Item = TypeVar("Item")
Value = TypeVar("Value")


def in_pieces(work: Work, *tensors: Tensor, rows: int = ROWS) -> Tensor:
    """What `work` gives for all rows of the tensors, though it only ever sees `rows` of them."""
    if tensors[0].device.type != "cpu":
        return one_by_one(work, *tensors, rows=max(rows, _DEVICE_ROWS))
    return torch.cat(list(by_threads(lambda pieces: work(*pieces), _split(tensors, rows))))


def by_threads(work: Callable[[Item], Value], items: Iterable[Item]) -> Iterator[Value]:
    """What `work` gives for each item, in order, as soon as it is there. Who stops taking stops the work."""
    n_threads = torch.get_num_threads()

    def run(item: Item) -> Value:
        with torch.inference_mode():  # which each thread has to be told
            return work(item)

    if n_threads == 1:
        yield from map(run, items)
        return
    waiting: deque[Future[Value]] = deque()
    pool = ThreadPoolExecutor(n_threads, initializer=torch.set_num_threads, initargs=(1,))
    try:
        for item in items:
            waiting.append(pool.submit(run, item))
            if len(waiting) > _AHEAD * n_threads:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    finally:
        pool.shutdown(cancel_futures=True)
        torch.set_num_threads(n_threads)  # threads made from now on again have as many as this one


@torch.inference_mode()
def one_by_one(work: Work, *tensors: Tensor, rows: int) -> Tensor:
    """The same with PyTorch's own threads: one piece after another, each shared by all."""
    return torch.cat([work(*pieces) for pieces in _split(tensors, rows)])


def _split(tensors: tuple[Tensor, ...], rows: int) -> Iterator[tuple[Tensor, ...]]:
    return zip(*(torch.split(tensor, rows) for tensor in tensors), strict=True)
