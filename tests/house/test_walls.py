"""The walls stand, and each would fall if something pushed against it."""

import ast
import difflib
import re
import subprocess
from functools import cache
from pathlib import Path

import pytest
import typer
from typer.cli import app as typer_app
from typer.testing import CliRunner

from carrylens.arithmetic.family.table import FamilyTable, family_table
from carrylens.arithmetic.paper.all_claims import answered, model_rows
from carrylens.arithmetic.traces import trace
from carrylens.arithmetic.zoo.failure_table import accurate_names, shipped_figures, tried_figures
from carrylens.arithmetic.zoo.model_facts import history
from carrylens.arithmetic.zoo.shipped import find_model, shipped_names
from carrylens.cli import app
from carrylens.cli.default_command import USUAL
from carrylens.report.figures.family import family_svg
from carrylens.report.figures.losses import all_losses_svg, losses_svg
from carrylens.report.figures.trace import trace_svg
from carrylens.report.terminal.family_page import family_csv, family_page
from carrylens.report.terminal.models import models_page
from carrylens.report.terminal.paper import paper_page
from carrylens.report.terminal.tables import frequency_table
from carrylens.workflow.answering_paper import paper_evidence
from carrylens.workflow.questions import frequency_records
from carrylens.workflow.reading import read_members
from house.walls import (
    INSTRUMENT,
    MAX_README_LINES,
    ambiguous_names,
    foreign_imports,
    import_violations,
    length_violations,
    missing_cards,
    missing_lines,
    size_violations,
    tree_violations,
    unknown_commands,
)

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "carrylens"
DOCUMENTS = sorted({*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")} - {ROOT / "docs" / "cli.md"})


def tracked_files() -> list[str]:
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    return [name for name in listed.stdout.splitlines() if (ROOT / name).exists()]


def cli_commands() -> dict[str, set[str]]:
    root = typer.main.get_command(app)
    found: dict[str, set[str]] = {"": _options(root)}
    for name, command in root.commands.items():  # type: ignore[attr-defined]
        found[name] = _options(command)
        for inner, leaf in getattr(command, "commands", {}).items():
            found[f"{name} {inner}"] = _options(leaf)
            if inner == USUAL:  # the usual command of a group need not be written
                found[name] |= _options(leaf)
    return found


def _options(command: object) -> set[str]:
    return {"--help", *(option for parameter in command.params for option in parameter.opts)}  # type: ignore[attr-defined]


def make_targets() -> set[str]:
    return set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))


def plant(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def test_rooms_import_only_rooms_above_them_and_the_instrument_knows_no_arithmetic() -> None:
    assert import_violations(PACKAGE) == []


@pytest.mark.parametrize(
    ("place", "line"),
    [
        ("arithmetic/x.py", "from carrylens.report import tables"),
        ("arithmetic/x.py", "def f():\n    import carrylens.cli"),
        ("nodes.py", "from carrylens import model"),
        *((f"{room}/x.py", "from carrylens.arithmetic.questions import y") for room in INSTRUMENT[-8:]),
        ("arithmetic/zoo/x.py", "from carrylens.arithmetic.battery import y"),
        ("model/x.py", "from carrylens.attic import y"),
        ("attic/x.py", "from carrylens.errors import y"),
        ("model/x.py", "from . import y"),
        ("workflow/x.py", "from carrylens.bench.arithmetic import y"),
        ("__init__.py", "from carrylens.arithmetic import y"),
    ],
)
def test_an_import_against_the_route_is_seen(tmp_path: Path, place: str, line: str) -> None:
    plant(tmp_path / "carrylens", place, line)
    assert len(import_violations(tmp_path / "carrylens")) == 1


def test_arithmetic_imports_nothing_but_numpy() -> None:
    assert foreign_imports(PACKAGE / "tasks", {"numpy", "carrylens"}) == []


def test_a_foreign_import_is_seen(tmp_path: Path) -> None:
    plant(tmp_path, "x.py", "import torch.nn\nimport numpy as np\nimport json")
    assert foreign_imports(tmp_path, {"numpy"}) == [f"{tmp_path / 'x.py'}: imports torch.nn"]


def test_files_functions_and_classes_keep_their_sizes() -> None:
    assert size_violations(ROOT / name for name in tracked_files() if name.endswith(".py")) == []


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("long.py", "x = 1\n" * 401),
        ("function.py", "def f():\n" + "    x = 1\n" * 60),
        ("methods.py", "class C:\n" + "".join(f"    def m{i}(self): pass\n" for i in range(11))),
        ("utils.py", ""),
    ],
)
def test_a_file_past_a_size_is_seen(tmp_path: Path, name: str, text: str) -> None:
    assert len(size_violations([plant(tmp_path, name, text)])) == 1


def test_no_name_has_two_meanings() -> None:
    assert ambiguous_names(PACKAGE) == []


def test_a_name_with_two_meanings_is_seen(tmp_path: Path) -> None:
    plant(tmp_path, "one/x.py", "class Watch: pass")
    plant(tmp_path, "two/y.py", "Watch = int")
    assert ambiguous_names(tmp_path) == ["Watch: one/x.py, two/y.py"]


def test_every_module_opens_with_its_card() -> None:
    assert missing_cards(PACKAGE) == []


def test_a_module_without_a_card_is_seen(tmp_path: Path) -> None:
    plant(tmp_path, "room/x.py", '"""X: a module.\n\nTakes  this.\nGives  that.\n"""')
    assert missing_cards(tmp_path) == [f"{tmp_path / 'room' / 'x.py'}: no card"]


def test_the_readme_shows_the_real_tree() -> None:
    assert tree_violations((ROOT / "README.md").read_text(), ROOT, tracked_files()) == []


def test_a_tree_that_lies_is_seen(tmp_path: Path) -> None:
    for name in ("src/carrylens/a.py", "src/carrylens/room/b.py", "Makefile"):
        plant(tmp_path, name, "")
    tree = "```tree\nMakefile  builds\nsrc/carrylens/\n  a.py  exists\n  gone.py  does not\n```"
    assert tree_violations(tree, tmp_path, ["Makefile", "src/carrylens/a.py", "src/carrylens/room/b.py"]) == [
        "in the README's tree but not there: src/carrylens/gone.py",
        "left out of the README's tree: src/carrylens/room/",
    ]


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_commands_in_documents_exist(document: Path) -> None:
    assert unknown_commands(document.read_text(), cli_commands(), make_targets()) == []


@pytest.mark.parametrize(
    "text",
    [
        "```sh\ncarrylens trace 4+5 --color\n```",
        "```sh\ncarrylens trace 4+5 -x\n```",
        "```bash\ncarrylens tarce 4+5\n```",
        "```sh\ncd x && .venv/bin/carrylens tarce\n```",
        "```sh\nNO_COLOR=1 carrylens tarce\n```",
        "```sh\nmake\n```",
        "run `make demo coffee` now",
        "run `carrylens --nope` now",
    ],
)
def test_a_command_that_does_not_exist_is_seen(text: str) -> None:
    assert len(unknown_commands(text, cli_commands(), make_targets())) == 1


def test_a_command_that_exists_is_let_through() -> None:
    text = "```sh\nprintf '4+5' | carrylens trace --svg=x.svg 4+5 && make demo test\n```"
    assert unknown_commands(text, cli_commands(), make_targets()) == []


def test_the_readme_is_short() -> None:
    assert length_violations((ROOT / "README.md").read_text()) == []


def test_a_long_readme_is_seen() -> None:
    assert length_violations("line\n" * (MAX_README_LINES + 1)) != []


def test_a_readme_without_a_tree_is_seen(tmp_path: Path) -> None:
    assert tree_violations("# carrylens", tmp_path, []) != []


@pytest.mark.parametrize(
    "document",
    [
        *("README.md", "docs/arithmetic.md", "docs/from_transformerlens.md", "docs/interventions.md"),
        *("docs/benchmark.md", "docs/planted.md", "docs/hostile.md", "docs/tasks.md"),
    ],
)
def test_python_in_documents_runs_and_gives_what_its_comments_say(document: str) -> None:
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / document).read_text(), re.DOTALL)
    assert blocks
    assert wrong_comments("\n".join(blocks)) == []


def test_a_readme_comment_that_lies_is_seen() -> None:
    assert wrong_comments("x = [1]\nx  # [2]") == ["x  # [2]"]


def wrong_comments(block: str) -> list[str]:
    """Run a block; give the lines whose value is not what the comment after them starts with."""
    names: dict[str, object] = {}
    wrong = []
    for statement in ast.parse(block).body:
        line = block.splitlines()[statement.lineno - 1]
        if isinstance(statement, ast.Expr) and "# [" in line:
            value = eval(compile(ast.Expression(statement.value), "README.md", "eval"), names)
            if not line.split("# ", 1)[1].startswith(repr(value)):
                wrong.append(line)
        else:
            exec(compile(ast.Module([statement], []), "README.md", "exec"), names)
    return wrong


def test_the_cli_reference_is_fresh() -> None:
    assert stale_lines((ROOT / "docs" / "cli.md").read_text(), cli_reference()) == []


def test_a_stale_cli_reference_is_seen() -> None:
    fresh = cli_reference()
    assert stale_lines(fresh.replace("`--digits <int>`", "`--width <int>`"), fresh) != []


ROWS = r"\| (natural|paper|enriched) "


@pytest.mark.slow
def test_the_frequency_table_is_fresh() -> None:
    fresh = frequency_table(frequency_records([5, 20], 1_000_000, seed=0), markdown=True)
    assert missing_lines((ROOT / "docs" / "frequencies.md").read_text(), fresh, ROWS) == []


def test_a_stale_frequency_table_is_seen() -> None:
    fresh = frequency_table(frequency_records([5], 1000, seed=0), markdown=True)
    assert missing_lines(fresh, fresh, ROWS) == []
    assert missing_lines(fresh.replace("| natural | 5 |", "| natural | 6 |"), fresh, ROWS) != []
    assert missing_lines(fresh, "no table", ROWS) != []


def test_the_readme_figure_is_fresh() -> None:
    assert stale_lines((ROOT / "docs" / "trace.svg").read_text(), trace_svg(trace("555555555+444444448"))) == []


def test_a_stale_figure_is_seen() -> None:
    assert stale_lines((ROOT / "docs" / "trace.svg").read_text(), trace_svg(trace("555555555+444444447"))) != []


def test_the_page_of_models_is_fresh() -> None:
    fresh = models_page(list(shipped_figures()), list(tried_figures()))
    assert stale_lines((ROOT / "docs" / "models.md").read_text(), fresh) == []


def test_a_stale_page_of_models_is_seen() -> None:
    written = (ROOT / "docs" / "models.md").read_text()
    assert stale_lines(written, models_page(list(shipped_figures())[1:], list(tried_figures()))) != []


@pytest.fixture(scope="module")
def family() -> tuple[FamilyTable, dict[str, bool | None]]:
    """The table of the accurate shipped models, from what came with them."""
    accurate, left_out = accurate_names()
    return family_table(read_members(accurate, shipped=True)), left_out


@pytest.mark.slow
def test_the_page_of_the_family_is_fresh(family: tuple[FamilyTable, dict[str, bool | None]]) -> None:
    assert stale_lines((ROOT / "docs" / "family.md").read_text(), family_page(*family)) == []
    assert stale_lines((ROOT / "docs" / "family.csv").read_text(), family_csv(family[0])) == []
    assert stale_lines((ROOT / "docs" / "family.svg").read_text(), family_svg(family[0])) == []


@pytest.mark.slow
def test_a_stale_page_of_the_family_is_seen(family: tuple[FamilyTable, dict[str, bool | None]]) -> None:
    fewer = family_table(family[0].members[1:])
    assert stale_lines((ROOT / "docs" / "family.md").read_text(), family_page(fewer, family[1])) != []
    assert stale_lines((ROOT / "docs" / "family.csv").read_text(), family_csv(fewer)) != []
    assert stale_lines((ROOT / "docs" / "family.svg").read_text(), family_svg(fewer)) != []


@pytest.mark.slow
def test_the_page_of_the_paper_is_fresh(family: tuple[FamilyTable, dict[str, bool | None]]) -> None:
    evidence = paper_evidence(table=family[0])
    fresh = paper_page(answered(evidence), list(model_rows(evidence)))
    assert stale_lines((ROOT / "docs" / "paper.md").read_text(), fresh) == []


@pytest.mark.slow
def test_the_loss_figures_are_fresh() -> None:
    histories = {name: history(find_model(name)) for name in shipped_names()}
    assert stale_lines((ROOT / "docs" / "losses.svg").read_text(), all_losses_svg(histories)) == []
    one = "mix_d6_l3_h4_w96_t4K_s1"
    assert stale_lines((ROOT / "docs" / "losses_by_digit.svg").read_text(), losses_svg(one, histories[one])) == []


@pytest.mark.slow
def test_a_stale_loss_figure_is_seen() -> None:
    fewer = {name: history(find_model(name)) for name in shipped_names()[1:3]}
    assert (ROOT / "docs" / "losses.svg").read_text() != all_losses_svg(fewer)


@cache
def cli_reference() -> str:
    """What `make docs` writes."""
    result = CliRunner().invoke(typer_app, ["carrylens.cli", "utils", "docs", "--name", "carrylens"])
    assert result.exit_code == 0, result.output
    return result.output


def stale_lines(written: str, fresh: str) -> list[str]:
    return [*difflib.unified_diff(written.strip().splitlines(), fresh.strip().splitlines(), n=0)]
