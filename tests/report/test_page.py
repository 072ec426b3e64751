"""The page about a model: what it says, and what it refuses to say."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from carrylens.arithmetic.task import find_task
from carrylens.arithmetic.zoo.sources import find_source
from carrylens.discovery.node_map import Group, NodeMap, Way
from carrylens.discovery.stimulus_texts import evaluation_texts, pair_texts
from carrylens.errors import CarryLensError
from carrylens.evidence.rates import Rate
from carrylens.nodes import Node
from carrylens.report.page.accuracy import accuracy_tables
from carrylens.report.page.circuit import circuit_of
from carrylens.report.page.effects import Effect
from carrylens.report.page.headline import headline_of, verdict_lines
from carrylens.report.page.node_grid import group_table, map_grid
from carrylens.report.page.render import page_of
from carrylens.report.page.saved import Saved, read_saved
from carrylens.report.page.unsettled import limits
from carrylens.report.terminal.claims import beyond_sentences
from carrylens.tasks.variables import Variable
from carrylens.workflow.known_truths import beside_truth
from report.explained import whole_page

VOID = {"meta", "link", "br", "rect", "path", "circle", "img", "input"}


class Outline(HTMLParser):
    """Checks that tags nest, and gathers ids and links."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.ids: list[str] = []
        self.links: list[str] = []
        self.headings: list[int] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        if "id" in given:
            self.ids.append(str(given["id"]))
        if tag == "a":
            self.links.append(str(given["href"]))
        if re.fullmatch("h[1-6]", tag):
            self.headings.append(int(tag[1]))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        pass

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag, f"</{tag}> closes nothing"


@pytest.fixture(scope="module")
def folder(explained: tuple[Path, str]) -> Path:
    return explained[0]


@pytest.fixture(scope="module")
def saved(folder: Path) -> Saved:
    return read_saved("model", folder, None)


@pytest.fixture(scope="module")
def page(folder: Path) -> str:
    return (folder / "report.html").read_text()


def changed_claims(saved: Saved, change: Callable[[dict[str, Any]], object]) -> Saved:
    claims = json.loads(json.dumps(saved.claims))
    change(claims)
    return replace(saved, claims=claims)


def test_the_page_is_well_formed_and_its_links_lead_somewhere(page: str) -> None:
    outline = Outline()
    outline.feed(page)
    assert outline.open == []
    assert len(outline.ids) == len(set(outline.ids))
    inside = [link for link in outline.links if link.startswith("#")]
    assert {link[1:] for link in inside} <= set(outline.ids)
    assert set(outline.links) - set(inside) == {"explore.html"}, "the explorer is beside it"
    assert outline.headings[0] == 1
    assert outline.headings.count(1) == 1
    steps = zip(outline.headings, outline.headings[1:], strict=False)
    assert all(after <= before + 1 for before, after in steps), "no heading is skipped"


def test_the_page_needs_nothing_but_itself(page: str) -> None:
    assert len(page.encode()) < 5_000_000
    assert re.findall(r"""(?:src|href)=["'](?!#|data:,|explore\.html")""", page) == []
    assert "@import" not in page
    assert "url(" not in page
    assert "http" not in page.replace("http-equiv", "")


def test_the_same_facts_make_the_same_page(saved: Saved, folder: Path, page: str) -> None:
    truth = beside_truth(find_source(str(folder)), saved.map)
    assert whole_page(replace(saved, source=str(folder), beside_truth=truth)) == page


def test_every_figure_has_text(page: str) -> None:
    drawings = re.findall(r"<svg.*?</svg>", page, re.DOTALL)
    assert len(drawings) >= 1
    for drawing in drawings:
        assert 'role="img"' in drawing
        assert re.search(r"<title id=[^>]*>[^<]{10,}</title>", drawing)
        assert re.search(r"<desc id=[^>]*>[^<]{10,}</desc>", drawing)


def test_every_cell_of_the_map_leads_to_its_evidence_with_nulls(saved: Saved) -> None:
    grid = map_grid(saved)
    cells = [cell.node for row in grid.rows for cell in row.cells]
    assert sorted(cells) == sorted(each.node for each in grid.evidence)
    assert {each.node for each in grid.evidence if each.useful} == set(map(str, saved.map.useful))
    for each in grid.evidence:
        assert all(effect.null.n for effect in (*each.without, *each.tokens))
        assert all(row.effect.null.n for row in (*each.roles, *each.groups))


def test_the_questions_on_the_page_are_those_that_were_used(saved: Saved, page: str) -> None:
    pairs = pair_texts(saved.map, saved.facts)
    confirmed = {role.variable for role in saved.map.roles}
    assert confirmed <= {each.variable for each in pairs}
    for each in pairs:
        assert len(each.effect) == len(each.null) == 24
        assert f"{each.effect[0][0]} {each.effect[0][1]} {each.effect[0][2]}" in page
    assert len(evaluation_texts(saved.map, saved.facts)) == 48


def test_pairs_that_do_not_fit_the_facts_are_refused(saved: Saved) -> None:
    lie = [
        replace(fact, stimuli={**fact.stimuli, "pairs": 23}) if fact.about.get("split") == "confirm" else fact
        for fact in saved.facts
    ]
    with pytest.raises(CarryLensError, match=r"\b23\b.*\b48\b"):
        pair_texts(saved.map, lie)


def test_an_effect_without_its_null_cannot_be_made() -> None:
    with pytest.raises(CarryLensError, match=r"ST\[1\].*null"):
        Effect("ST[1]", Rate(9, 9), Rate(0, 0), "")


def test_a_role_without_its_null_cannot_be_rendered(saved: Saved) -> None:
    roles = [replace(saved.map.roles[0], null=Rate(0, 0)), *saved.map.roles[1:]]
    with pytest.raises(CarryLensError, match=r"SA\[1\].*null"):
        page_of(replace(saved, map=replace(saved.map, roles=roles)))


def test_a_group_without_a_role_cannot_be_rendered(saved: Saved) -> None:
    role = next(role for role in saved.map.roles if role.variable == Variable("ST", 0))
    known = Group(role.variable, role.token, (role.nodes,))
    with_one = replace(saved, map=replace(saved.map, groups=(known,)))
    assert len(group_table(with_one.map)) == 1
    assert 'id="groups"' in page_of(with_one)
    assert 'id="groups"' not in page_of(replace(saved, map=replace(saved.map, groups=())))
    lie = replace(known, sets=((*role.nodes, Node(0, 0, 0)),))
    with pytest.raises(CarryLensError, match=r"P0L0H0.*ST\[0\]"):
        page_of(replace(saved, map=replace(saved.map, groups=(lie,))))


@pytest.mark.parametrize("how", ["null taken out", "null never asked", "no evidence"])
def test_a_claim_without_its_null_cannot_be_rendered(saved: Saved, how: str) -> None:
    def lie(claims: dict[str, Any]) -> None:
        claim = next(c for c in claims["claims"] if c["kind"] == "carried" and c["verdict"] == "SUPPORTED")
        if how == "null taken out":
            del claim["evidence"][0]["null"]
        elif how == "null never asked":
            claim["evidence"][0]["null"] = {"hits": 0, "n": 0}
        else:
            claim["evidence"] = []

    page_of(saved)
    with pytest.raises(CarryLensError, match=r"A\[\d\]"):
        page_of(changed_claims(saved, lie))


def test_the_headline_follows_the_skeleton(saved: Saved) -> None:
    both = {"skeleton": "present", "rivals": [{**saved.claims["rivals"][-1], "skeleton": "present"}]}
    present = changed_claims(saved, lambda claims: claims.update(both))
    absent = changed_claims(saved, lambda claims: claims.update(skeleton="absent"))
    unclear = changed_claims(saved, lambda claims: claims.update(skeleton="unclear"))
    alone = changed_claims(saved, lambda claims: claims.update(skeleton="present", rivals=[]))
    said = [headline_of(each).sentence for each in (present, absent, unclear, alone)]
    assert len(set(said)) == 4
    assert all("left-to-right add" in sentence for sentence in said)
    assert ["ripple add" in sentence for sentence in said] == [True, False, False, False]
    *lines, following = verdict_lines(saved)
    assert len(lines) == 6
    assert [line.startswith("Paper:") for line in lines] == [False] * 5 + [True]
    assert following.endswith(f"carrylens settle {saved.source}"), "what is not settled says what would settle it"


def test_the_circuit_has_what_was_planted_and_edges_of_supported_claims_only(saved: Saved) -> None:
    circuit = circuit_of(saved)
    carried = {variable for box in circuit.boxes for variable in box.variables}
    assert {Variable("ST", 0), Variable("ST", 1), Variable("SA", 1)} <= carried
    assert circuit.edges

    def refute(claims: dict[str, Any]) -> None:
        for claim in claims["claims"]:
            claim["verdict"] = "REFUTED" if claim["kind"] == "order" else claim["verdict"]

    assert circuit_of(changed_claims(saved, refute)).edges == ()


def test_a_role_below_the_thresholds_is_not_in_the_circuit(saved: Saved) -> None:
    weak = [replace(role, hit=Rate(role.hit.n // 2, role.hit.n)) for role in saved.map.roles]
    assert circuit_of(replace(saved, map=replace(saved.map, roles=weak))).boxes == ()


def test_the_worked_question_agrees_in_a_planted_model(page: str, folder: Path) -> None:
    worked = json.loads((folder / "worked.json").read_text())["questions"]
    assert [each["given"] for each in worked] == ["55+48"]
    assert worked[0]["answer"] == worked[0]["right"] == "+103"
    assert len(worked[0]["swaps"]) >= 5
    assert all(interchange["agrees"] for interchange in worked[0]["swaps"])
    assert "55+48=+103" in page


def test_accuracy_rows_have_all_that_was_tested(saved: Saved) -> None:
    assert saved.test is not None
    (table,) = accuracy_tables(saved.test)
    assert [row.name for row in table.rows] == [part["name"] for part in saved.test["parts"]]
    assert all(0 <= row.left <= row.right <= 100 for row in table.rows)
    assert accuracy_tables(None) == []


def test_what_was_not_done_is_said(saved: Saved) -> None:
    bare = replace(saved, test=None, battery=(), worked=None)
    circuit = circuit_of(bare)
    whole, said = set(limits(saved, circuit)), set(limits(bare, circuit))
    assert whole < said
    assert len(said - whole) == 3
    for missing in ({"test": None}, {"battery": ()}, {"worked": None}):
        assert len(set(limits(replace(saved, **missing), circuit)) - whole) == 1
    assert "data accuracy" in page_of(saved)
    assert "data accuracy" not in page_of(bare)


def test_files_of_two_models_are_not_mixed(folder: Path, tmp_path: Path) -> None:
    for name in ("map.json", "facts.jsonl.gz", "claims.json", "test.json"):
        (tmp_path / name).write_bytes((folder / name).read_bytes())
    read_saved("model", tmp_path, None)
    claims, test = (json.loads((folder / name).read_text()) for name in ("claims.json", "test.json"))
    (tmp_path / "test.json").write_text(json.dumps({**test, "sha256": "0" * 64}))
    with pytest.raises(CarryLensError, match=r"test\.json.*000000000000"):
        read_saved("model", tmp_path, None)
    (tmp_path / "claims.json").write_text(json.dumps({**claims, "model": "another"}))
    with pytest.raises(CarryLensError, match=r"claims\.json.*another"):
        read_saved("model", tmp_path, None)


def test_a_verdict_on_another_hypothesis_is_not_taken_for_that_on_the_usual_one(folder: Path, tmp_path: Path) -> None:
    for name in ("map.json", "claims.json"):
        (tmp_path / name).write_bytes((folder / name).read_bytes())
    claims = json.loads((folder / "claims.json").read_text())
    (tmp_path / "claims.json").write_text(json.dumps({**claims, "hypothesis": "nine carries"}))
    with pytest.raises(CarryLensError, match="'nine carries'"):
        read_saved("model", tmp_path, None)


def test_a_map_that_was_changed_makes_no_page(folder: Path, tmp_path: Path) -> None:
    for name in ("map.json", "claims.json", "manifest.json"):
        (tmp_path / name).write_bytes((folder / name).read_bytes())
    read_saved("model", tmp_path, None)
    (tmp_path / "map.json").write_bytes((folder / "map.json").read_bytes() + b" ")
    with pytest.raises(CarryLensError, match=r"map\.json.*manifest\.json"):
        read_saved("model", tmp_path, None)


def test_what_the_hypothesis_does_not_require_is_on_the_page(saved: Saved) -> None:
    node = {"node": "P9L0H1", "place": "D'1", "tokens": {}, "classes": {}}
    node |= {"mean": {"hits": 0, "n": 96}, "resample": {"hits": 7, "n": 96}, "clean": {"hits": 0, "n": 96}}
    with_one = changed_claims(saved, lambda claims: claims.update(nodes_without_role=[node]))
    said = [sentence for sentences in beyond_sentences(with_one.claims).values() for sentence in sentences]
    (loose,) = [sentence for sentence in said if sentence.startswith("P9L0H1 ")]
    assert re.findall(r"\d+ of \d+", loose) == ["7 of 96", "0 of 96"]
    assert re.sub("'", "&#39;", loose) in page_of(with_one)
    old = changed_claims(saved, lambda claims: [claims.pop(name) for name in ("nodes_without_role", "not_asked_for")])
    assert len(beyond_sentences(old.claims)) < len(beyond_sentences(with_one.claims))
    assert page_of(old)


def test_without_a_map_the_error_says_what_to_write(tmp_path: Path) -> None:
    with pytest.raises(CarryLensError, match=r"map\.json.*carrylens map model"):
        read_saved("model", tmp_path, None)


def test_a_map_that_came_without_its_facts_still_makes_a_page(folder: Path, tmp_path: Path) -> None:
    for name in ("map.json", "claims.json"):
        (tmp_path / name).write_bytes((folder / name).read_bytes())
    bare = read_saved("model", tmp_path, None)
    assert {fact.about["variable"] for fact in bare.facts} == {str(role.variable) for role in bare.map.roles}
    circuit = circuit_of(bare)
    with_facts = replace(bare, facts=read_saved("model", folder, None).facts)
    (said,) = set(limits(bare, circuit)) - set(limits(with_facts, circuit))
    page = whole_page(bare)
    assert said in page
    assert 'id="pairs-ST0"' in page


def test_a_superposed_role_is_no_interchange_in_a_page_without_facts(folder: Path, tmp_path: Path) -> None:
    found = NodeMap.from_json((folder / "map.json").read_bytes(), find_task)
    superposed = replace(found.roles[0], way=Way.DIFFERENCE, hit=Rate(5, 7))
    (tmp_path / "map.json").write_text(replace(found, roles=(superposed, *found.roles)).to_json())
    claims = json.loads((folder / "claims.json").read_bytes())
    (tmp_path / "claims.json").write_text(json.dumps(claims))
    with pytest.raises(CarryLensError, match=r"claims\.json"):
        read_saved("model", tmp_path, None)
    del claims["map_sha256"]  # as the first version wrote them
    (tmp_path / "claims.json").write_text(json.dumps(claims))
    bare = read_saved("model", tmp_path, None)
    assert [fact.kind for fact in bare.facts][:2] == ["shift", "swap"]
    assert f"{superposed.hit.hits} of {superposed.hit.n}" in whole_page(bare)
