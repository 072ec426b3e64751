"""The cluster: Dask says which worker takes which step next; the folders say what is done.

Takes  rows, the folder of the family, and how many workers to start here or the file of a scheduler that runs.
Gives  each step's end, as it comes.
Never  keeps a result in a worker that is not in a folder first: a worker, a scheduler or this process may die anywhere.

1. Every step of every row is a task that waits for the step before it; a row that inserts a model waits for that row's
   training.
2. A worker holds the row's folder, looks whether the step is done, else does it, and says how far it is.
3. When a worker dies, Dask gives its tasks, and those whose results only it had, to another; those that were done end
   at once, because the folder has them.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from time import monotonic, process_time
from typing import TYPE_CHECKING, Any

from carrylens import __version__
from carrylens.arithmetic.family.rows import ModelRow, waits_for
from carrylens.arithmetic.family.run_state import EndedStep, FamilyState, StepEnd
from carrylens.errors import CarryLensError
from carrylens.files import inner_folder
from carrylens.workflow.family_run.route import RowWork, take_step
from carrylens.workflow.family_run.row_folder import held

if TYPE_CHECKING:
    from distributed import Client, Future

_TOPIC = "carrylens-family"
_TELL_SECONDS = 0.5
_TICK_SECONDS = 0.5
_LOST_WORKERS = 20  # how often a step may lose its worker before it is given up
_SILENT = "CRITICAL"
_MALLOC = {"MALLOC_MMAP_THRESHOLD_": str(32 << 20), "MALLOC_TRIM_THRESHOLD_": str(4 << 30)}
"""What glibc keeps. Dask gives memory back at 64 KiB: every training step then asks for it anew, page by page."""


@dataclass(frozen=True)
class ClusterChoice:
    """Workers started here, or, with the file of a scheduler, those of a cluster that runs; threads are each step's."""

    workers: int = 2
    scheduler: Path | None = None
    threads: int = 1


@dataclass(frozen=True)
class StepOrder:
    """What a worker is sent: a step of a row, where, and by which version of carrylens."""

    row: ModelRow
    step: str
    out: str
    inserted: str | None
    threads: int
    version: str


def run_rows(
    rows: Sequence[ModelRow], out: Path, choice: ClusterChoice, tick: Callable[[FamilyState, EndedStep | None], None]
) -> FamilyState:
    """Take every row as far as its steps go. `tick` is called with each end, and with None twice a second."""
    state = FamilyState(rows)
    with _client_of(choice) as client:
        client.subscribe_topic(_TOPIC, lambda event: _hear(state, event))
        futures = _submitted(client, rows, out, choice.threads)
        for ended in _ends(client, futures, state):
            if ended is not None:
                state.end(ended)
            tick(state, ended)
        client.unsubscribe_topic(_TOPIC)
    return state


def _submitted(client: Client, rows: Sequence[ModelRow], out: Path, threads: int) -> dict[Future, tuple[str, str]]:
    steps: dict[tuple[str, str], Future] = {}
    for place in _in_order(rows):
        row = rows[place]
        other = waits_for(row, rows)
        inserted = row.insert if other is None else str(out.resolve() / other.folder)
        before = None if other is None else steps[other.folder, other.steps[0]]
        for step in row.steps:
            order = StepOrder(row, step, str(out.resolve()), inserted, threads, __version__)
            key = f"{row.folder}-{step}-{os.getpid()}-{monotonic()}"
            before = client.submit(take_order, order, before, key=key, pure=False, priority=-place)
            steps[row.folder, step] = before
    return {future: key for key, future in steps.items()}


def _in_order(rows: Sequence[ModelRow]) -> list[int]:
    # Those that are inserted before those they are put into.
    return sorted(range(len(rows)), key=lambda place: (waits_for(rows[place], rows) is not None, place))


def take_order(order: StepOrder, before: tuple[str, ...] | None) -> tuple[str, float, str, str, float]:
    """What a worker does. Its result is small: an end, seconds, where, the line that says what went wrong, CPU seconds.

    The worker takes one step at a time, so what its process used meanwhile is the step's.
    """
    where, began = _here(), process_time()
    if before is not None and before[0] in _LAST:
        return StepEnd.STOPPED.value, 0.0, where, "", 0.0
    tell = _Teller(order, where)
    try:
        _check_worker(order)
        folder = inner_folder(Path(order.out), order.row.folder)
        with held(folder, lambda who: tell(f"waiting for {who}", 0, 1)):
            tell("starting", 0, 1)
            work = RowWork(order.row, folder, order.inserted, order.threads, tell)
            end, seconds = take_step(work, order.step)
    except CarryLensError as error:
        return StepEnd.FAILED.value, 0.0, where, str(error), process_time() - began
    return end.value, seconds, where, "", process_time() - began


_LAST = tuple(end.value for end in (StepEnd.MISSED, StepEnd.STOPPED, StepEnd.FAILED))


def _check_worker(order: StepOrder) -> None:
    if order.version != __version__:
        raise CarryLensError(
            f"A worker on {socket.gethostname()} has carrylens {__version__}, not {order.version}. Install the same."
        )
    if not Path(order.out).is_dir():
        raise CarryLensError(
            f"A worker on {socket.gethostname()} does not see {order.out}. Give --out a folder that all workers share."
        )


class _Teller:
    """Tells the scheduler's listeners how far a step is, twice a second at most."""

    def __init__(self, order: StepOrder, where: str) -> None:
        self._order, self._where, self._at = order, where, 0.0

    def __call__(self, what: str, done: int, total: int) -> None:
        from distributed import get_worker

        now = monotonic()
        if now - self._at < _TELL_SECONDS:
            return
        self._at = now
        share = done / total if total else 0.0
        said = {"row": self._order.row.folder, "step": self._order.step, "where": self._where}
        with suppress(ValueError, OSError):  # no worker: called without a cluster
            get_worker().log_event(_TOPIC, {**said, "what": what, "share": share})


def _here() -> str:
    return f"{socket.gethostname()}:{os.getpid()}"


def _hear(state: FamilyState, event: tuple[float, Any]) -> None:
    said = event[1]
    if isinstance(said, dict) and {"row", "step", "where", "what", "share"} <= set(said):
        state.hear(monotonic(), *(said[name] for name in ("row", "step", "where", "what", "share")))


def _ends(client: Client, futures: dict[Future, tuple[str, str]], state: FamilyState) -> Iterator[EndedStep | None]:
    from distributed import wait

    left = dict(futures)
    while left:
        with suppress(TimeoutError):
            wait(list(left), timeout=_TICK_SECONDS, return_when="FIRST_COMPLETED")
        for future in [each for each in left if each.done()]:
            yield _end_of(future, *left.pop(future))
        state.n_workers = _n_workers(client)
        yield None


def _end_of(future: Future, row: str, step: str) -> EndedStep:
    if future.status == "finished":
        end, seconds, where, error, cpu = future.result()
        return EndedStep(row, step, StepEnd(end), seconds, where, error, cpu)
    if future.status == "cancelled":
        raise CarryLensError("The scheduler is gone. What was done is in the folders: the same command goes on.")
    error = future.exception()
    if type(error).__name__ == "KilledWorker":
        return EndedStep(row, step, StepEnd.FAILED, error=f"{_LOST_WORKERS} workers died at this step")
    assert error is not None
    raise error  # a bug of ours keeps its traceback


def _n_workers(client: Client) -> int:
    return len(client.scheduler_info(n_workers=-1).get("workers", {}))


@contextmanager
def _client_of(choice: ClusterChoice) -> Iterator[Client]:
    try:
        import dask
        from distributed import Client, LocalCluster
    except ImportError as error:
        raise CarryLensError(
            "Dask runs the rows, and is not installed. Write: pip install carrylens[cluster]"
        ) from error
    with dask.config.set(
        {
            "distributed.scheduler.allowed-failures": _LOST_WORKERS,
            "distributed.scheduler.worker-ttl": None,  # a worker on a busy machine is slow to say that it lives
            "distributed.worker.daemon": True,
            "distributed.comm.timeouts.connect": "10s",
            "distributed.nanny.pre-spawn-environ": _MALLOC,
        }
    ):
        if choice.scheduler is not None:
            with _joined(choice.scheduler) as client:
                yield client
            return
        with (
            LocalCluster(
                n_workers=choice.workers,
                threads_per_worker=1,
                processes=True,
                memory_limit=0,
                dashboard_address=":0",  # any port that is free
                silence_logs=_SILENT,
            ) as cluster,
            Client(cluster) as client,
        ):
            yield client


@contextmanager
def _joined(file: Path) -> Iterator[Client]:
    from distributed import Client

    if not file.is_file():
        raise CarryLensError(f"{file} is not a scheduler file. Start one: dask scheduler --scheduler-file {file}")
    try:
        client = Client(scheduler_file=str(file), timeout=10)
    except (OSError, TimeoutError, ValueError) as error:
        raise CarryLensError(f"No scheduler answers at the address in {file}. Start one, or let it start.") from error
    with client:
        yield client
