"""Page: the data, scripts, style and frame of an explorer as one HTML file.

Takes  what the page is about.
Gives  the text of a file that opens from disk and asks for nothing.
Never  runs a script or takes a style but those whose hashes its policy names; every text of a model is data.

The policy: nothing is allowed by default. Scripts and styles are named by their hashes, so that no text which found its
way into the page could run. A worker is made of the page's own script, as a blob.
"""

from __future__ import annotations

import html
import json
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any

from carrylens.arithmetic.task import ArithmeticTask
from carrylens.explorer.packed import checksum
from carrylens.explorer.page_data import Explored, page_data
from carrylens.report.kind_styles import kind_rules
from carrylens.report.page.elements import page_policy
from carrylens.tasks.variables import VariableKind

ENGINE = (
    *("packed", "linear", "attention", "model", "causal", "task", "draws", "statistics", "subject"),
    *("experiments", "worker"),
)
VIEW = (
    *("dom", "state", "jobs", "grid", "attention", "algorithm", "answer", "ask", "evidence", "touch", "hunt"),
    *("picture", "share", "tour", "challenge", "main"),
)
_DOES = {"add": "adds", "sub": "subtracts", "mix": "adds and subtracts"}


def explorer_page(explored: Explored) -> str:
    """The text of the page."""
    data, kinds = page_data(explored), _kinds(explored)
    data["shape"] = _shape_line(explored)
    return page_of_data(data, kinds)


def page_of_data(data: Mapping[str, Any], kinds: tuple[VariableKind, ...]) -> str:
    """The page that holds these data."""
    engine, view, style = script(ENGINE, "engine"), script(VIEW, "view"), _asset("explore.css") + kind_rules(kinds)
    content = embedded(data)
    parts = {
        "policy": page_policy([engine, view], [style], _MORE),
        "title": html.escape(f"{data['name']}: explore"),
        "style": style,
        "data": content,
        "sum": str(checksum(content)),
        "engine": engine,
        "view": view,
    }
    page = _asset("explore.html")
    before, *rest = page.split("{{")
    filled = [before]
    for piece in rest:
        name, _, after = piece.partition("}}")
        filled += [parts[name.strip()], after]
    return "".join(filled)


@cache
def script(names: tuple[str, ...], folder: str) -> str:
    """The scripts of a folder as one, in a scope of their own."""
    text = "\n".join(_asset(f"{folder}/{name}.js") for name in names)
    assert "</script" not in text.lower()
    assert "<!--" not in text
    return f'(() => {{\n"use strict";\n{text}\n}})();\n'


def embedded(data: Mapping[str, Any]) -> str:
    """The data as JSON that no HTML parser can take for anything else."""
    text = json.dumps(data, ensure_ascii=True, separators=(",", ":"))
    return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")


_MORE = ("worker-src blob:", "require-trusted-types-for 'script'", "trusted-types carrylens")


def _kinds(explored: Explored) -> tuple[VariableKind, ...]:
    families = explored.causal.families
    return tuple(dict.fromkeys(family.kind for family in families))


def _shape_line(explored: Explored) -> str:
    config, task = explored.model.config, explored.task
    if isinstance(task, ArithmeticTask):
        does = f"{_DOES[task.operation.value]} numbers of {task.digits} digit{'s' * (task.digits > 1)}"
    else:
        does = f"is for {task.name}"
    layers = f"{config.n_layers} layer{'s' * (config.n_layers > 1)}"
    heads = f"{config.n_heads} head{'s' * (config.n_heads > 1)}"
    return f"A transformer that {does}: {layers}, {heads} each, width {config.d_model}."


def _asset(name: str) -> str:
    return files("carrylens.explorer").joinpath("assets", *name.split("/")).read_text(encoding="utf-8")
