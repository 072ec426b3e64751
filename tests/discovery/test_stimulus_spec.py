"""What a map says of its stimuli is enough to draw them again, whichever version wrote it."""

from __future__ import annotations

import pytest

from carrylens.discovery.node_search import MapSettings
from carrylens.discovery.stimulus_spec import SPECIFICATION, Split, StimulusSpec, plain_specs, saved_spec, specify


def test_no_two_splits_of_any_searches_share_a_seed() -> None:
    seeds = [specify(split, seed, 1).seed for seed in range(20) for split in Split]
    assert len(set(seeds)) == len(seeds)


@pytest.mark.parametrize("quick", [False, True])
@pytest.mark.parametrize("seed", [0, 3])
def test_what_settings_say_and_what_a_map_keeps_are_the_same(seed: int, quick: bool) -> None:
    settings = MapSettings.chosen(seed, quick=quick)
    kept = {"settings": settings.plain(), SPECIFICATION: plain_specs(settings.specifications())}
    of_first_version = {"settings": settings.plain()}
    for split in (Split.FIND, Split.CONFIRM, Split.COMPETE):
        assert saved_spec(kept, split) == saved_spec(of_first_version, split) == settings.roles.stimuli(split)
    groups = settings.group_search
    assert saved_spec(kept, Split.GROUPS) == StimulusSpec(groups.n_find, groups.seed)


@pytest.mark.parametrize("said", [{}, {"n_find": "many"}, {SPECIFICATION: {}}, {SPECIFICATION: {"find": {"count": 3}}}])
def test_a_map_that_does_not_say_is_not_guessed(said: dict[str, object]) -> None:
    assert saved_spec(said, Split.FIND) is None


def test_what_is_kept_goes_before_the_settings() -> None:
    said = {"settings": MapSettings.chosen().plain(), SPECIFICATION: {"find": {"count": 7, "seed": 9}}}
    assert saved_spec(said, Split.FIND) == StimulusSpec(7, 9)
