"""Pieces: work on many sequences, a few at a time, each CPU thread with pieces of its own.

Takes  a function of sequences, and many sequences.
Gives  its values for all of them, in order.
Never  keeps what a gradient would need, and never lets the number of threads change a bit of the result.

PyTorch's own threads share every single operation and wait for each other after it. That costs more than it gives on
pieces that fit a core's cache, and much more on a machine that does other work too.
"""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import torch
from torch import Tensor

ROWS = 64
"""Sequences a pass: a layer's hidden states of so many stay near a core. `LOG.md` has the sizes that were tried."""
_DEVICE_ROWS = 4096  # off the CPU, where larger is faster

Work = Callable[[Tensor], Tensor]


def in_pieces(work: Work, sequences: Tensor, rows: int = ROWS) -> Tensor:
    """What `work` gives for all sequences, though it only ever sees `rows` of them."""
    if sequences.device.type != "cpu":
        return one_by_one(work, sequences, max(rows, _DEVICE_ROWS))
    n_threads = torch.get_num_threads()

    def run(piece: Tensor) -> Tensor:
        with torch.inference_mode():  # which each thread has to be told
            return work(piece)

    with ThreadPoolExecutor(n_threads, initializer=torch.set_num_threads, initargs=(1,)) as pool:
        done = list(pool.map(run, torch.split(sequences, rows)))
    torch.set_num_threads(n_threads)  # threads made from now on again have as many as this one
    return torch.cat(done)


@torch.inference_mode()
def one_by_one(work: Work, sequences: Tensor, rows: int) -> Tensor:
    """The same with PyTorch's own threads: one piece after another, each shared by all."""
    return torch.cat([work(piece) for piece in torch.split(sequences, rows)])
