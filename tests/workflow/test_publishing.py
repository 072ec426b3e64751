"""Publishing: the whole repository or nothing of it, against a stand-in of the Hub."""

import io
import json
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch

import carrylens as cl
from carrylens.arithmetic.zoo.sources import find_source
from carrylens.errors import CarryLensError
from carrylens.model import load_published
from carrylens.workflow.publishing import Publication, publication_of, publish
from workflow.hub_stand_in import TOKEN, StandIn

pytestmark = pytest.mark.filterwarnings("ignore:Use 'content=:DeprecationWarning")  # of the Hub's own library

ADDER = "add_d6_l2_h3_w96_t2K_s1"


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch) -> Iterator[StandIn]:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_DISABLE_XET", True)  # a store of its own beside the Hub
    stand_in = StandIn()
    yield stand_in
    stand_in.close()


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Publication]:
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path_factory.mktemp("published"))  # where the claims go that are judged on the way
        yield publication_of(find_source(ADDER), "hf:someone/adder")


def up(made: Publication, hub: StandIn, token: str = TOKEN) -> tuple[str, list[float]]:
    waited: list[float] = []
    return publish(made, token=token, endpoint=hub.endpoint, wait=waited.append), waited


def test_every_file_goes_up_in_one_commit(made: Publication, hub: StandIn) -> None:
    address, waited = up(made, hub)
    assert hub.files == dict(made.files)
    assert hub.commits == 1
    assert address.endswith("someone/adder")
    assert waited == []


def test_what_went_up_is_read_back_by_us_and_has_the_published_form(made: Publication, tmp_path: Path) -> None:
    for name, content in made.files.items():
        (tmp_path / name).write_bytes(content)
    ours = cl.load(tmp_path)
    assert ours.answer("555555+444448") == "+1000003"
    assert len(cl.map(ours).useful) == len(cl.map(ADDER).useful), "its map came along"
    model = load_published(tmp_path)
    assert torch.equal(model.model.W_E, cl.load(ADDER).W_E)
    assert len(model.losses) == 2000, "one for each step"
    assert model.behaviors
    assert model.features
    assert {"config.json", "model.safetensors", "map.json", "test.json", "README.md"} <= set(made.files)
    assert {"claims.json", "report.html", "explore.html"} <= set(made.files), "though only the map was there before"
    assert b'href="explore.html"' in made.files["report.html"]
    assert "someone/adder" in made.files["README.md"].decode()
    assert set(torch.load(io.BytesIO(made.files["model.pth"]), weights_only=True)) > {"embed.W_E", "unembed.W_U"}
    assert json.loads(made.files["training_loss.json"])["Config"]["n_digits"] == 6


@pytest.mark.parametrize(("part", "status"), [("/commit/", 503), ("/api/repos/create", 500), ("/commit/", 0)])
def test_what_fails_now_and_then_is_tried_again(made: Publication, hub: StandIn, part: str, status: int) -> None:
    hub.fail = {part: [status, status]}
    _, waited = up(made, hub)
    assert hub.files == dict(made.files)
    assert hub.commits == 1
    assert waited == sorted(waited)


def test_a_server_that_stays_down_is_one_line_and_nothing_is_committed(made: Publication, hub: StandIn) -> None:
    hub.fail = {"/commit/": [503] * 50}
    with pytest.raises(CarryLensError) as caught:
        up(made, hub)
    assert "\n" not in str(caught.value)
    assert (hub.files, hub.commits) == ({}, 0)


def test_an_interrupted_upload_leaves_the_repository_as_it_was_and_goes_up_later(
    made: Publication, hub: StandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stop(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("huggingface_hub.HfApi.preupload_lfs_files", stop)
        with pytest.raises(KeyboardInterrupt):
            up(made, hub)
    assert hub.files == {}
    up(made, hub)
    assert hub.files == dict(made.files)


def test_a_refused_token_is_named_and_never_shown(made: Publication, hub: StandIn) -> None:
    with pytest.raises(CarryLensError, match="token") as caught:
        up(made, hub, token="hf_wrong")
    assert "hf_wrong" not in str(caught.value)
    assert len(hub.requests) == 1, "it is not tried again"


@pytest.mark.parametrize("target", ["someone/adder", "hf:adder", "hf:a/b/c", "hf:a b/c"])
def test_a_target_that_names_no_repository_is_refused(target: str) -> None:
    with pytest.raises(CarryLensError, match="hf:owner/name"):
        publication_of(find_source(ADDER), target)


def test_a_dry_run_sends_nothing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("carrylens.workflow.publishing.publish", lambda *_, **__: pytest.fail("sent"))
    found = cl.publish(cl.plant("add", 1).model, "hf:someone/adder", dry_run=True)
    assert found.address is None
    assert "model.safetensors" in found.sizes
