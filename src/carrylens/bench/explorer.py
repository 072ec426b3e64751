"""The explorer benchmark: how fast a page loads, answers and ablates, in node and in chromium.

Takes  names of models.
Gives  milliseconds of processor time and by the clock, and whether the page found its golden answers again.
Never  times without checking: a page that answers otherwise is not fast but wrong.

Processor time is what a busy machine stretches least, so it comes first. By the clock the median of all rounds counts.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path
from statistics import median
from typing import Any

from carrylens.arithmetic.zoo.sources import find_source
from carrylens.explorer.page import ENGINE, explorer_page, script
from carrylens.explorer.page_data import Explored

_OWN = ("ScriptDuration", "LayoutDuration", "RecalcStyleDuration")
# How often a job is run in a round: the clocks of processors are coarse.
_BATCHES = {"load": 1, "forward": 20, "ablations": 1}
_WARM = {"load": 3, "forward": 300, "ablations": 2}
BROWSERS = ("chromium", "chromium-browser", "google-chrome")


@dataclass(frozen=True)
class TimeSpent:
    """Milliseconds that something took: of processor time, and by the clock; medians of all rounds."""

    cpu: float
    clock: float

    def __str__(self) -> str:
        return f"{self.cpu:.1f} ms of CPU ({self.clock:.1f} by the clock)"


@dataclass(frozen=True)
class ExplorerBench:
    """What one model's page took in one place: to load the model, for one clean pass, for all single ablations.

    These are measured once their code is warm. `drawn` is from the start of navigation until model and answer are laid
    out, `opened` until the page was checked as well and all of it is there; both in a fresh tab, of the page's own
    thread (scripts, styles, layout), and None where there is no browser.
    """

    model: str
    where: str
    megabytes: float
    load: TimeSpent
    forward: TimeSpent
    ablations: TimeSpent
    n_nodes: int
    drawn: TimeSpent | None
    opened: TimeSpent | None
    agrees: bool


def bench_explorer(models: Sequence[str], rounds: int) -> Iterator[ExplorerBench]:
    """Each model in node, and in chromium, where they are installed."""
    measure = files("carrylens.bench").joinpath("explorer.js").read_text(encoding="utf-8")
    for name in models:
        source = find_source(name)
        page = explorer_page(Explored(source.load(), source.task, source.name, sha256=source.sha256))
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "explore.html"
            path.write_text(page)
            data = page.partition('id="data">')[2].partition("</script>")[0]
            if node := shutil.which("node"):
                yield _bench(name, "node", page, _in_node(node, Path(folder), data, measure, rounds))
            if (browser := _browser()) and find_spec("playwright"):
                yield _bench(name, "chromium", page, _in_browser(browser, path, measure, rounds))


def _bench(name: str, where: str, page: str, measured: dict[str, Any]) -> ExplorerBench:
    return ExplorerBench(
        model=name,
        where=where,
        megabytes=round(len(page.encode()) / 1e6, 2),
        load=_taken(measured["load"]),
        forward=_taken(measured["forward"]),
        ablations=_taken(measured["ablations"]),
        n_nodes=measured["nNodes"],
        drawn=_taken(measured["drawn"]) if "drawn" in measured else None,
        opened=_taken(measured["opened"]) if "opened" in measured else None,
        agrees=bool(measured["ok"]),
    )


def _taken(rounds: Sequence[tuple[float, float]]) -> TimeSpent:
    return TimeSpent(cpu=median(cpu for cpu, _ in rounds), clock=median(clock for _, clock in rounds))


def _browser() -> str | None:
    return next(filter(None, map(shutil.which, BROWSERS)), None)


_NODE = """
const bench = explorerBench(require("fs").readFileSync("data.json", "utf8"));
const spent = () => { const { user, system } = process.cpuUsage(); return (user + system) / 1000; };
const rounds = (name, batch, warm) => {
  bench.run(name, warm);
  return Array.from({ length: ROUNDS }, () => {
    const began = spent(), taken = bench.run(name, batch);
    return [(spent() - began) / batch, taken.reduce((sum, each) => sum + each) / batch];
  });
};
const found = Object.fromEntries(JOBS.map(([name, batch, warm]) => [name, rounds(name, batch, warm)]));
console.log(JSON.stringify({ ...found, nNodes: bench.nNodes, ok: bench.ok }));
"""


def _in_node(node: str, folder: Path, data: str, measure: str, rounds: int) -> dict[str, Any]:
    jobs = json.dumps([[name, batch, _WARM[name]] for name, batch in _BATCHES.items()])
    (folder / "data.json").write_text(data)
    given = f"const ROUNDS = {rounds}, JOBS = {jobs};"
    (folder / "bench.cjs").write_text(f"{script(ENGINE, 'engine')}\n{measure}\n{given}\n{_NODE}")
    done = subprocess.run([node, "bench.cjs"], cwd=folder, capture_output=True, text=True, check=True)
    return dict(json.loads(done.stdout))


def _in_browser(browser: str, path: Path, measure: str, rounds: int) -> dict[str, Any]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        program = playwright.chromium.launch(executable_path=browser, args=["--no-sandbox", "--disable-gpu"])
        found: dict[str, Any] = {moment: [] for moment in _MOMENTS}
        for _ in range(rounds):
            for moment, told in _MOMENTS.items():
                page, spent = _opened(program, path, moment)
                page.evaluate("document.body.offsetHeight")  # whatever is not laid out yet
                found[moment].append((spent(_OWN), float(page.evaluate(f"document.body.dataset.{told}"))))
                page.close()
        page, spent = _opened(program, path, "opened")
        text = "document.getElementById('data').textContent"
        page.evaluate(f"() => {{ {measure}; globalThis.bench = explorerBench({text}); }}")
        for name, batch in _BATCHES.items():
            page.evaluate("([name, times]) => void bench.run(name, times)", [name, _WARM[name]])
            found[name] = [_round(page, spent, name, batch) for _ in range(rounds)]
        found |= page.evaluate("({ nNodes: bench.nNodes, ok: bench.ok })")
        program.close()
    return found


_MOMENTS = {"drawn": "drawn", "opened": "milliseconds"}
_HELD = (
    "globalThis.requestAnimationFrame = globalThis.setTimeout = () => 0;"  # what follows the first frame never comes
)


def _opened(program: Any, path: Path, moment: str) -> tuple[Any, Callable[[Sequence[str]], float]]:
    # The page at a moment, and what its thread has spent on things by now, in milliseconds.
    page = program.new_page()
    if moment == "drawn":
        page.add_init_script(_HELD)
    inside = page.context.new_cdp_session(page)
    inside.send("Performance.enable", {"timeDomain": "threadTicks"})

    def spent(names: Sequence[str]) -> float:
        metrics = {each["name"]: each["value"] for each in inside.send("Performance.getMetrics")["metrics"]}
        return 1000 * float(sum(metrics[name] for name in names))

    page.goto(path.as_uri())
    page.wait_for_selector("body[data-drawn]" if moment == "drawn" else "body[data-ready=yes]")
    return page, spent


def _round(page: Any, spent: Callable[[Sequence[str]], float], name: str, batch: int) -> tuple[float, float]:
    began = spent(["TaskDuration"])
    taken = page.evaluate("([name, times]) => bench.run(name, times)", [name, batch])
    return (spent(["TaskDuration"]) - began) / batch, sum(taken) / batch


def explorer_lines(measured: ExplorerBench) -> str:
    """One place in a line."""
    opened = "" if measured.opened is None else f"drawn after {measured.drawn}, ready after {measured.opened}, "
    return (
        f"{measured.model} in {measured.where} ({measured.megabytes:.2f} MB): {opened}model loaded in "
        f"{measured.load}, a forward pass {measured.forward}, all {measured.n_nodes} single-node ablations "
        f"{measured.ablations}{'' if measured.agrees else '; but its golden answers were NOT found again'}."
    )
