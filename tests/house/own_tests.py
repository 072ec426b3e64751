"""Own tests: which modules no test is about.

A module has tests of its own if a test imports it or what it gives, if it has a doctest, or if a test works it
through the only way that leads to it: a command, an experiment, a page. Those ways are listed here.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from pathlib import Path

N_TRIVIAL = 30
"""Modules with fewer statements are trivial: they list, or hand on."""
REACHED: Mapping[str, str] = {
    "arithmetic/battery/{experiment}/": "arithmetic/battery/{experiment}/",
    "arithmetic/paper/": "arithmetic/paper/test_paper_answers.py",
    "arithmetic/planted/benchmark/likeness_models.py": "benchmark/test_likeness.py",
    "arithmetic/planted/hostile_circuit.py": "arithmetic/planted/test_hostile_exactness.py",
    "arithmetic/planted/hostile_roles.py": "arithmetic/planted/test_hostile_suite.py",
    "arithmetic/planted/hostile_truth.py": "arithmetic/planted/test_hostile_truth.py",
    "arithmetic/planted/node_truth.py": "arithmetic/planted/test_planted_truth.py",
    "arithmetic/planted/rivals.py": "arithmetic/planted/test_planted_exactness.py",
    "bench/interventions.py": "bench/test_bench_models.py",
    "benchmark/map_cases.py": "arithmetic/planted/benchmark/test_controls.py",
    "benchmark/run_records.py": "arithmetic/planted/benchmark/test_benchmark_command.py",
    "claims/unclaimed.py": "claims/test_unclaimed.py",
    "cli/": "test_cli.py",
    "discovery/alignment/": "discovery/alignment/",
    "discovery/difference_patching.py": "discovery/test_difference_patching.py",
    "discovery/map_checks.py": "discovery/test_map_checks.py",
    "discovery/worked_examples.py": "report/test_explain_command.py",
    "explorer/": "explorer/test_explorer_page.py",
    "front/": "front/",
    "model/formats/": "model/test_formats.py",
    "model/layers.py": "model/test_transformer.py",
    "report/figures/algorithm.py": "report/test_print.py",
    "report/notebook/": "front/test_views.py",
    "report/sentences/{experiment}.py": "arithmetic/battery/{experiment}/",
    "report/terminal/": "report/",
    "workflow/": "workflow/",
}
"""A module or a room, and the tests that work it: `{experiment}` stands for the same name on both sides."""


def untested_modules(package: Path, tests: Path, reached: Mapping[str, str] = REACHED) -> list[str]:
    """Modules that are not trivial and have no tests of their own."""
    imported: set[str] = set().union(*(_imports(path) for path in tests.rglob("*.py")))
    for path in package.rglob("__init__.py"):  # a test may import what a room hands on
        room = ".".join(path.parent.relative_to(package.parent).parts)
        imported |= {origin for name, origin in _handed_on(path) if f"{room}.{name}" in imported}
    found = []
    for path in sorted(package.rglob("*.py")):
        text, name = path.read_text(encoding="utf-8"), path.relative_to(package)
        module = ".".join(path.relative_to(package.parent).with_suffix("").parts)
        is_trivial = sum(isinstance(node, ast.stmt) for node in ast.walk(ast.parse(text))) < N_TRIVIAL
        if is_trivial or path.name == "__init__.py" or ">>>" in text or module in imported:
            continue
        if not any((tests / way).exists() for way in _ways(str(name), reached)):
            found.append(f"{name}: no test imports it, and none is said to work it")
    return found


def lost_ways(tests: Path, reached: Mapping[str, str] = REACHED) -> list[str]:
    """Tests that are said to work a module and are not there."""
    return [way for way in reached.values() if "{" not in way and not (tests / way).exists()]


def _ways(name: str, reached: Mapping[str, str]) -> Iterator[str]:
    for place, way in reached.items():
        start, mark, end = place.partition("{experiment}")
        if not mark and name.startswith(place):
            yield way
        if mark and name.startswith(start):
            experiment = name.removeprefix(start).split("/")[0].removesuffix(".py")
            if name.startswith(f"{start}{experiment}{end}"):
                yield way.replace(mark, experiment)


def _imports(path: Path) -> set[str]:
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module:
            found |= {node.module, *(f"{node.module}.{each.name}" for each in node.names)}
        elif isinstance(node, ast.Import):
            found |= {each.name for each in node.names}
    return found


def _handed_on(path: Path) -> Iterator[tuple[str, str]]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module:
            yield from ((each.asname or each.name, node.module) for each in node.names)
