"""How times grow, as a table and as a figure."""

import xml.etree.ElementTree as ET

from carrylens.report.figures.growth import growth_lines, growth_svg

MIDDLE = {"digits": 6, "width": 96, "batch": 128}
TIMES = {
    "step_seconds": 0.0256,
    "step_share_of_peak": 0.51,
    "question_seconds": 8.04e-05,
    "question_share_of_peak": 0.62,
}
RECORDS = [
    MIDDLE | {name: value} | TIMES for name, value in (("digits", 3), ("digits", 6), ("width", 48), ("batch", 32))
]


def test_each_size_has_its_times_and_shares() -> None:
    lines = growth_lines(RECORDS, markdown=False)
    assert lines[1].split() == ["3", "96", "128", "25.6", "51%", "200", "80", "62%"]
    assert "| 6 | 96 | 32 | 25.6 | 51% | 800 | 80 | 62% |" in growth_lines(RECORDS, markdown=True)


def test_each_panel_shows_only_what_differs_in_its_own_aspect() -> None:
    svg = growth_svg(RECORDS, MIDDLE)
    groups = [element.attrib.get("id", "") for element in ET.fromstring(svg).iter("{http://www.w3.org/2000/svg}g")]
    assert sum(group.startswith("axes_") for group in groups) == 6
    assert growth_svg(RECORDS, MIDDLE) == svg
    elsewhere = MIDDLE | {"digits": 9, "width": 64} | TIMES
    assert growth_svg([*RECORDS, elsewhere], MIDDLE) == svg, "a size that differs in two things is on no panel"
    assert growth_svg([*RECORDS, MIDDLE | {"digits": 9} | TIMES], MIDDLE) != svg
