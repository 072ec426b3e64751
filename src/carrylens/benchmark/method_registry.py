"""The registry of methods: all that are compared, by name, and open to more.

Takes  names, files, entry points.
Gives  `DiscoveryMethod` values: those that work for any task, and a user's own.
Never  runs one.

A method of one's own is a Python file with a function `find(given) -> Found`. It may also have `NAME`, `TOLD` (whether
it uses the algorithm) and `ABOUT` (one sentence). An installed package offers one as an entry point of the group
`carrylens.methods` that names such a function, or a `DiscoveryMethod`. `TOLD` and `ABOUT` are read from the module that
a function is defined in, however it is given.
"""

from __future__ import annotations

import importlib.util
import inspect
import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from types import ModuleType

from carrylens.benchmark.baselines.acdc import find_by_acdc
from carrylens.benchmark.baselines.activation_patching import find_by_patching
from carrylens.benchmark.baselines.alignment_search import find_by_alignment_search
from carrylens.benchmark.baselines.attention import score_attention
from carrylens.benchmark.baselines.attribution import score_attribution
from carrylens.benchmark.baselines.edge_attribution import find_by_edge_attribution, find_by_integrated_gradients
from carrylens.benchmark.baselines.exhaustive_interchange import score_interchange
from carrylens.benchmark.baselines.linear_probes import score_probes
from carrylens.benchmark.carrylens_map import map_by_interchange
from carrylens.benchmark.carrylens_verdict import judge_by_alignment
from carrylens.benchmark.method_interface import DiscoveryMethod, Finder
from carrylens.benchmark.source_hash import source_hash
from carrylens.errors import CarryLensError, quote, reason_of
from carrylens.files import read_whole

OURS = "ours"
"""The name of this package's own method."""
GROUP = "carrylens.methods"
"""The group of entry points by which packages offer methods."""
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,59}", re.ASCII)

GENERAL_METHODS = (
    DiscoveryMethod(OURS, map_by_interchange, True, "the node map of this package, and its verdicts"),
    DiscoveryMethod(
        "interchange", score_interchange, True, "exhaustive interchange: every node, every variable, matched pairs"
    ),
    DiscoveryMethod(
        "das", find_by_alignment_search, True, "distributed alignment search: a trained subspace of every node"
    ),
    DiscoveryMethod("attention", score_attention, True, "where heads look; nothing about MLPs"),
    DiscoveryMethod("probe", score_probes, True, "linear probes on what each node writes"),
    DiscoveryMethod(
        "attribution", score_attribution, True, "attribution patching with integrated gradients, by variable"
    ),
    DiscoveryMethod("patching", find_by_patching, False, "exhaustive activation patching of single nodes"),
    DiscoveryMethod("eap", find_by_edge_attribution, False, "edge attribution patching"),
    DiscoveryMethod(
        "eap-ig", find_by_integrated_gradients, False, "edge attribution patching with integrated gradients"
    ),
    DiscoveryMethod("acdc", find_by_acdc, False, "automatic circuit discovery: edges removed one after another"),
)
"""The methods that work for any task."""
VERDICT = DiscoveryMethod("verdict", judge_by_alignment, True, "the verdicts of this package alone, without its map")
"""What `ours` says of hypotheses, at a part of its cost; run only if it is named."""


def chosen_methods(
    names: Sequence[str], known: Sequence[DiscoveryMethod] = GENERAL_METHODS
) -> tuple[DiscoveryMethod, ...]:
    """The methods of these names, files of one's own, or entry points, in the order given; all known ones for none."""
    if not names:
        return tuple(known)
    found = tuple(_chosen(name, known) for name in names)
    if len({method.name for method in found}) < len(found):
        raise CarryLensError(f"Two methods are called {_twice(found)!r}. Give each a NAME of its own.")
    return found


def method_from_file(path: Path, taken: Iterable[str] = ()) -> DiscoveryMethod:
    """The method that a Python file holds."""
    content = read_whole(path, "Give a Python file with find(given).")
    spec = importlib.util.spec_from_file_location(f"carrylens_method_{path.stem}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except SyntaxError as error:
        raise CarryLensError(f"{path} is not valid Python: {error.msg}, line {error.lineno}. Fix it.") from error
    except CarryLensError:
        raise
    except (Exception, SystemExit) as error:  # whatever goes wrong in the user's file is the user's to mend
        raise CarryLensError(f"{path} fails with {type(error).__name__}: {reason_of(error)}. Fix it.") from error
    found = _method_of(module, path)
    if found.name in taken:
        raise CarryLensError(f"{quote(found.name)} names a method that is there already. Set another NAME in {path}.")
    return replace(found, source=source_hash(text=content))


def own_method(
    find: Finder | DiscoveryMethod | str | Path, known: Sequence[DiscoveryMethod] = GENERAL_METHODS
) -> DiscoveryMethod:
    """A method as Python gives it: a function, a `DiscoveryMethod`, a name or a file."""
    if isinstance(find, DiscoveryMethod):
        return find
    if isinstance(find, str | Path):
        return _chosen(str(find), known)
    return _method_called(getattr(find, "__name__", "mine"), find, inspect.getmodule(find))


def _chosen(name: str, known: Sequence[DiscoveryMethod]) -> DiscoveryMethod:
    known = (*known, VERDICT)
    if name.endswith(".py"):
        return method_from_file(Path(name), [method.name for method in known])
    for method in known:
        if method.name == name:
            return method
    offered = {point.name: point for point in entry_points(group=GROUP)}
    if name in offered:
        return _loaded(offered[name])
    names = ", ".join([*(method.name for method in known), *offered])
    raise CarryLensError(f"There is no method {quote(name)}. Write one of {names}, or a Python file: mine.py.")


def _loaded(point: EntryPoint) -> DiscoveryMethod:
    try:
        found = point.load()
    except (Exception, SystemExit) as error:  # an installed package is no more ours than a file is
        raise CarryLensError(
            f"The entry point {point.name!r} ({point.value}) fails with {type(error).__name__}: {reason_of(error)}. "
            "Fix its package, or choose another method."
        ) from error
    if isinstance(found, DiscoveryMethod):
        return found
    if not callable(found):
        raise CarryLensError(f"The entry point {point.name!r} ({point.value}) is not a function. Name find(given).")
    return _method_called(point.name, found, inspect.getmodule(found))


def _method_of(module: ModuleType, path: Path) -> DiscoveryMethod:
    find = getattr(module, "find", None)
    if not callable(find):
        raise CarryLensError(f"{path} has no function find(given). Write one that returns a Found.")
    name = str(getattr(module, "NAME", path.stem))
    if not _NAME.fullmatch(name):
        raise CarryLensError(f"{path} calls its method {quote(name)}. Use letters, digits, points and dashes.")
    return _method_called(name, find, module)


def _method_called(name: str, find: Finder, module: ModuleType | None) -> DiscoveryMethod:
    return DiscoveryMethod(name, find, getattr(module, "TOLD", None), str(getattr(module, "ABOUT", "")))


def _twice(methods: Sequence[DiscoveryMethod]) -> str:
    names = [method.name for method in methods]
    return next(name for name in names if names.count(name) > 1)
