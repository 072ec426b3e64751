"""Site hooks: what the documents need to become a site.

Takes  the pages in docs/, the README, the notebooks.
Gives  a front page made of the README, a page for each notebook with its outputs, links that stay inside the site.
Never  changes a file.
"""

import json
import re
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

ROOT = Path(__file__).parents[1]
_LINK = re.compile(r"(!?)\[([^\]\[]*)\]\(([^)#\s]*)(#[^)\s]*)?\)")


def on_files(files: Files, config: Any) -> Files:
    """Add the front page and the notebooks."""
    readme = re.sub(r"## The tree\n.*?```\n\n", "", (ROOT / "README.md").read_text(), flags=re.DOTALL)
    files.append(File.generated(config, "index.md", content=readme.replace("](docs/", "](")))
    for path in sorted((ROOT / "notebooks").glob("*.ipynb")):
        files.append(File.generated(config, f"notebooks/{path.stem}.md", content=_page(json.loads(path.read_text()))))
    files.append(File.generated(config, "notebooks/README.md", content=_listed()))
    return files


def on_page_markdown(markdown: str, page: Any, config: Any, files: Files) -> str:  # noqa: ARG001
    """Turn links to files that are not in the site into plain text."""
    folder = Path(page.file.src_uri).parent

    def inside(match: re.Match[str]) -> str:
        picture, text, target, anchor = match.groups()
        if not target or "://" in target:
            return match.group()
        uri = _plain((folder / target).as_posix())
        if files.get_file_from_path(uri) is not None:
            return match.group()
        if uri.endswith(".ipynb") and files.get_file_from_path(uri.removesuffix(".ipynb") + ".md") is not None:
            return f"[{text}]({target.removesuffix('.ipynb')}.md{anchor or ''})"
        leaves = uri.startswith("../") or not (ROOT / "docs" / uri).exists()
        exists = (ROOT / "docs" / uri).exists() or (ROOT / uri).exists()
        return f"{text} (`{uri.removeprefix('../')}`)" if leaves and exists and not picture else match.group()

    return _LINK.sub(inside, markdown)


def _plain(uri: str) -> str:
    parts: list[str] = []
    for part in uri.split("/"):
        if part == ".." and parts and parts[-1] != "..":
            parts.pop()
        elif part not in (".", ""):
            parts.append(part)
    return "/".join(parts)


def _listed() -> str:
    return (ROOT / "notebooks" / "README.md").read_text()


def _page(notebook: dict[str, Any]) -> str:
    parts = []
    for cell in notebook["cells"]:
        source = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            parts.append(re.sub(r"\n*\[!\[Open in Colab\].*", "", source))
            continue
        parts.append(f"```python\n{source}\n```")
        parts += [_output(output) for output in cell["outputs"]]
    return "\n\n".join(parts) + "\n"


def _output(output: dict[str, Any]) -> str:
    data = output.get("data", {"text/plain": output.get("text", "")})
    if "text/html" in data:
        html = re.sub(r"\n\s*", "\n", "".join(data["text/html"]))
        return "<div>" + html.replace("\n", " ") + "</div>"
    return "```text\n" + "".join(data.get("text/plain", "")) + "\n```"
