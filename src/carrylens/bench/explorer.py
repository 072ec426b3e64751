"""The explorer benchmark: how fast a page loads, answers and ablates, in node and in chromium.

Takes  names of models.
Gives  milliseconds, the best of several rounds, and whether the page found its golden answers again.
Never  times without checking: a page that answers otherwise is not fast but wrong.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from carrylens.arithmetic.zoo.sources import find_source
from carrylens.explorer.page import ENGINE, explorer_page, script
from carrylens.explorer.page_data import Explored

_OWN = ("ScriptDuration", "LayoutDuration", "RecalcStyleDuration")
BROWSERS = ("chromium", "chromium-browser", "google-chrome")


@dataclass(frozen=True)
class ExplorerBench:
    """Milliseconds of one model's page in one place: to load the model, for one clean pass, for all single ablations.

    `open` is from the start of navigation until the page can be used, `open_cpu` what of it the page's own thread spent
    on scripts, styles and layout, whatever else the machine did; None where there is no browser.
    """

    model: str
    where: str
    megabytes: float
    load: float
    forward: float
    ablations: float
    n_nodes: int
    open: float | None
    open_cpu: float | None
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
        load=measured["load"],
        forward=measured["forward"],
        ablations=measured["ablations"],
        n_nodes=measured["nNodes"],
        open=measured.get("open"),
        open_cpu=measured.get("open_cpu"),
        agrees=bool(measured["ok"]),
    )


def _browser() -> str | None:
    return next(filter(None, map(shutil.which, BROWSERS)), None)


def _in_node(node: str, folder: Path, data: str, measure: str, rounds: int) -> dict[str, Any]:
    told = f"console.log(JSON.stringify(measure(require('fs').readFileSync('data.json', 'utf8'), {rounds})));"
    (folder / "data.json").write_text(data)
    (folder / "bench.cjs").write_text(f"{script(ENGINE, 'engine')}\n{measure}\n{told}")
    done = subprocess.run([node, "bench.cjs"], cwd=folder, capture_output=True, text=True, check=True)
    return dict(json.loads(done.stdout))


def _in_browser(browser: str, path: Path, measure: str, rounds: int) -> dict[str, Any]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=browser, args=["--no-sandbox", "--disable-gpu"])
        times = []
        for _ in range(rounds):
            page = opened.new_page()
            inside = page.context.new_cdp_session(page)
            inside.send("Performance.enable", {"timeDomain": "threadTicks"})
            page.goto(path.as_uri())
            page.wait_for_selector("body[data-ready=yes]")
            spent = {each["name"]: each["value"] for each in inside.send("Performance.getMetrics")["metrics"]}
            whole = page.evaluate("performance.getEntriesByType('navigation')[0].domContentLoadedEventEnd")
            times.append((whole, 1000 * sum(spent[name] for name in _OWN)))
            page.close()
        page = opened.new_page()
        page.goto(path.as_uri())
        page.wait_for_selector("body[data-ready=yes]")
        text = "document.getElementById('data').textContent"
        found = dict(page.evaluate(f"() => {{ {measure}; return measure({text}, {rounds}); }}"))
        opened.close()
    return found | {"open": min(whole for whole, _ in times), "open_cpu": min(cpu for _, cpu in times)}


def explorer_lines(measured: ExplorerBench) -> str:
    """One place in a line."""
    opened = "" if measured.open is None else f"opens in {measured.open:.0f} ms ({measured.open_cpu:.0f} ms of CPU), "
    return (
        f"{measured.model} in {measured.where} ({measured.megabytes:.2f} MB): {opened}model loaded in "
        f"{measured.load:.0f} ms, a forward pass {measured.forward:.1f} ms, all {measured.n_nodes} single-node "
        f"ablations {measured.ablations:.0f} "
        f"ms{'' if measured.agrees else '; but its golden answers were NOT found again'}."
    )
