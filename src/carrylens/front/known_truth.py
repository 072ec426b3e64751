"""Known truth: plant a circuit, score methods of circuit discovery.

Takes  dials of a circuit; methods.
Gives  a planted model with its truth; the leaderboard.
Never  imports PyTorch before a call.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from carrylens.front.progress_display import progress_display

if TYPE_CHECKING:
    from carrylens.benchmark.method_interface import DiscoveryMethod, Found, Given
    from carrylens.front.views import LeaderboardView, PlantedView
    from carrylens.progress import Progress


def plant(
    operation: str = "add",
    digits: int = 3,
    *,
    method: str = "left-to-right",
    redundancy: int = 1,
    copies: str = "heads",
    sharing: bool = False,
    polysemy: bool = False,
    decoys: int = 0,
    noise: int = 0,
    delay: int = 0,
    timing: str = "lazy",
    carry: str = "tri-state",
    gate: float = 0.0,
    weighted: int = 0,
    split: bool = False,
    backup: bool = False,
    cancel: bool = False,
    spread: bool = False,
    superposed: bool = False,
    memorised: str = "nothing",
    rotated: bool = False,
    seed: int = 0,
    description: str | Path | None = None,
    folder: str | Path | None = None,
) -> PlantedView:
    """A model whose weights were computed to run a circuit, with the truth about every node: `.model` and `.truth`.

    The dials are those of `carrylens plant`; from `gate` to `memorised` they are hostile. `description` is a JSON file
    that describes a circuit instead. With `folder` the model is also saved, as a model folder with `truth.json`.
    """
    from carrylens.arithmetic.planted.planting import plant as plant_described
    from carrylens.front.tabular import view_of
    from carrylens.front.views import PlantedView
    from carrylens.workflow.planting import describe_plant, read_description

    dials: dict[str, object] = {"redundancy": redundancy, "copies": copies, "sharing": sharing, "polysemy": polysemy}
    dials |= {"decoys": decoys, "noise": noise, "delay": delay, "timing": timing, "carry": carry}
    dials |= {"rotated": rotated, "seed": seed}
    hostile: dict[str, object] = {"gate": gate, "weighted": weighted, "split": split, "backup": backup}
    hostile |= {"cancel": cancel, "spread": spread, "superposed": superposed, "memorised": memorised}
    own = None if description is None else read_description(Path(description))
    wanted = describe_plant(operation, digits, method, dials, hostile) if own is None else own
    made = view_of(PlantedView, plant_described(wanted))
    if folder is not None:
        made.save(folder)
        made.model.given = str(folder)
    return made


def benchmark(
    *methods: str | Path | Callable[[Given], Found] | DiscoveryMethod,
    suites: Sequence[str] = (),
    split: str = "test",
    quick: bool = False,
    light: bool = False,
    seeds: int = 10,
    out: str | Path | None = None,
    leaderboard: str | Path | None = None,
    threads: int = 0,
    workers: int = 1,
    told: Callable[[dict[str, Any]], object] | None = None,
    command: str = "carrylens.benchmark",
    progress: bool | Progress = True,
) -> LeaderboardView:
    """The leaderboard of methods of circuit discovery: functions of your own, Python files, names; all known for none.

    `suites` are kind, hostile, aligned and empty, all of them if none is named; `quick` takes a few small models, on
    less evidence; `light` takes all of them, on less evidence. `seeds` of questions show how much is found again, 0
    leaves that out. `out` is a folder in which results are kept and found again, `leaderboard` one for
    `leaderboard.json`, `.md` and `.svg`. `told` is called with each result; `command` is what the leaderboard says it
    was made by.
    """
    from carrylens.front.tabular import view_of
    from carrylens.front.views import LeaderboardView
    from carrylens.workflow import benchmarking

    chosen = benchmarking.BenchmarkChoice(
        methods, suites, split, quick, light, seeds, out=None if out is None else Path(out)
    )
    folder = None if leaderboard is None else Path(leaderboard)
    with progress_display("benchmark", progress) as say:
        board = benchmarking.benchmark(chosen, say, threads, workers, command=command, told=told, leaderboard=folder)
    return view_of(LeaderboardView, board)
