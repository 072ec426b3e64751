"""Every module that is not trivial has tests of its own, and a module without any would be seen."""

from __future__ import annotations

from pathlib import Path

from house.own_tests import N_TRIVIAL, lost_ways, untested_modules

ROOT = Path(__file__).parents[2]
PACKAGE, TESTS = ROOT / "src" / "carrylens", ROOT / "tests"


def test_every_module_that_is_not_trivial_has_tests_of_its_own() -> None:
    assert untested_modules(PACKAGE, TESTS) == []
    assert lost_ways(TESTS) == []


def test_a_module_without_tests_is_seen(tmp_path: Path) -> None:
    package, tests = tmp_path / "made", tmp_path / "tests"
    for room in (package / "battery" / "one", package / "battery" / "two", tests / "one"):
        room.mkdir(parents=True)
    long = "\n".join(f"a{at} = {at}" for at in range(N_TRIVIAL))
    files = {"lone.py": long, "used.py": long, "handed.py": f"{long}\nName = 1", "short.py": "a = 1"}
    files |= {"shown.py": f'"""\n>>> 1\n1\n"""\n{long}', "__init__.py": "from made.handed import Name as Other\n"}
    files |= {"battery/one/measure.py": long, "battery/two/measure.py": long}
    for name, text in files.items():
        (package / name).write_text(text)
    (tests / "test_it.py").write_text("from made import Other\nfrom made.used import a1\n")
    found = untested_modules(package, tests, {"battery/{experiment}/": "{experiment}/"})
    assert [line.split(":")[0] for line in found] == ["battery/two/measure.py", "lone.py"]
    assert lost_ways(tests, {"lone.py": "test_gone.py"}) == ["test_gone.py"]
