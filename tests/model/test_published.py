import errno
import importlib
import json
import os
import pickle
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from carrylens.arithmetic.model_shapes import digits_of
from carrylens.errors import CarryLensError
from carrylens.model import TaggedNode, Transformer, load_published
from carrylens.model.exchange import to_transformer_lens_state

REPO = "PhilipQuirke/QuantaMaths_add_d6_l2_h3_t15K_s372001"
NODE = {"position": 8, "layer": 0, "is_head": True, "num": 1, "tags": ["Fail%:5", "Impact:A765"]}


@pytest.fixture
def published(model: Transformer, tmp_path: Path) -> Path:
    """A folder laid out as the authors publish theirs, masks and all."""
    torch.save(to_transformer_lens_state(model), tmp_path / "model.pth")
    training = {"Config": {"training_seed": 372001, "act_fn": "relu", "n_layers": 2}, "TrainingLoss": [2.5, 1, 0.25]}
    (tmp_path / "training_loss.json").write_text(json.dumps(training))
    (tmp_path / "behaviors.json").write_text(json.dumps([NODE]))
    (tmp_path / "features.json").write_text(json.dumps([NODE | {"tags": ["Algo:A5.SA"]}]))
    return tmp_path


class Hostile:
    """A pickle of this runs `command` when it is opened without care."""

    def __init__(self, command: str) -> None:
        self.command = command

    def __reduce__(self) -> tuple[Any, ...]:
        return os.system, (self.command,)


def refusal(source: str | Path, **options: Any) -> str:
    with pytest.raises(CarryLensError) as caught:
        load_published(source, **options)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_a_published_folder_gives_its_model_and_what_was_written_beside_it(
    model: Transformer, tokens: Tensor, published: Path
) -> None:
    found = load_published(published)
    assert torch.equal(found.model(tokens), model(tokens))
    assert (digits_of(found.model.config), found.model.config.n_layers, found.model.config.n_heads) == (2, 2, 3)
    assert found.model.config.seed == found.training_config["training_seed"] == 372001
    assert found.losses == (2.5, 1.0, 0.25)
    assert found.behaviors == (TaggedNode(8, 0, True, 1, ("Fail%:5", "Impact:A765")),)
    assert found.features[0].tags == ("Algo:A5.SA",)


def test_the_weights_alone_are_enough(published: Path, tokens: Tensor, model: Transformer) -> None:
    for name in ("training_loss.json", "behaviors.json", "features.json"):
        (published / name).unlink()
    found = load_published(published)
    assert torch.equal(found.model(tokens), model(tokens))
    assert (found.losses, found.behaviors, found.features, found.model.config.seed) == ((), (), (), 0)


@pytest.mark.parametrize("zipped", [True, False])
def test_a_hostile_pickle_is_refused_and_does_not_run(published: Path, zipped: bool) -> None:
    witness = published / "witness"
    hostile = {"embed.W_E": Hostile(f"touch '{witness}'")}
    torch.save(hostile, published / "model.pth", _use_new_zipfile_serialization=zipped)
    assert "(posix.system)" in refusal(published)
    assert not witness.exists()
    torch.load(published / "model.pth", weights_only=False)
    assert witness.exists(), "the pickle was harmless, so the test above showed nothing"


def test_a_bare_hostile_pickle_is_refused_and_does_not_run(published: Path) -> None:
    witness = published / "witness"
    content = pickle.dumps(Hostile(f"touch '{witness}'"))
    (published / "model.pth").write_bytes(content)
    assert "refused" in refusal(published)
    assert not witness.exists()
    pickle.loads(content)
    assert witness.exists(), "the pickle was harmless, so the test above showed nothing"


def test_a_whole_module_is_refused(published: Path) -> None:
    torch.save(nn.Linear(2, 2), published / "model.pth")
    assert "torch.nn.modules.linear.Linear" in refusal(published)


@pytest.mark.parametrize("content", [[torch.zeros(2)], {"epoch": 3}, {"model": {"embed.W_E": torch.zeros(2)}}, {3: 3}])
def test_a_file_that_is_no_dictionary_of_tensors_is_refused(published: Path, content: object) -> None:
    torch.save(content, published / "model.pth")
    assert "model.pth" in refusal(published)


@pytest.mark.parametrize("length", [0, 3, 1000, 10000, 20000])
def test_weights_cut_short_are_refused(published: Path, length: int) -> None:
    os.truncate(published / "model.pth", length)
    assert "model.pth" in refusal(published)


def test_a_flipped_bit_in_the_weights_is_seen(published: Path, model: Transformer) -> None:
    content = (published / "model.pth").read_bytes()
    weight = model.embed.W_E.detach().numpy().tobytes()[:8]
    assert content.count(weight) == 1
    flipped = bytes([weight[0] ^ 1]) + weight[1:]
    (published / "model.pth").write_bytes(content.replace(weight, flipped))
    assert "model.pth" in refusal(published)


def test_a_sparse_tensor_is_refused(published: Path) -> None:
    torch.save({"embed.W_E": torch.eye(2).to_sparse()}, published / "model.pth")
    assert "model.pth" in refusal(published)


def test_a_page_in_place_of_the_weights_is_refused(published: Path) -> None:
    (published / "model.pth").write_text("<html>429 Too Many Requests</html>")
    assert "model.pth" in refusal(published)


def test_a_folder_without_weights_is_named(tmp_path: Path) -> None:
    assert re.search(f"{tmp_path}/model.pth.*{os.strerror(errno.ENOENT)}", refusal(tmp_path))


def test_weights_that_lack_a_part_are_refused(published: Path) -> None:
    state = torch.load(published / "model.pth", weights_only=True)
    del state["blocks.1.mlp.W_out"]
    torch.save(state, published / "model.pth")
    assert "blocks.1.mlp.W_out" in refusal(published)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("training_loss.json", "{"),
        ("training_loss.json", '{"Config": {}}'),
        ("training_loss.json", '{"Config": {}, "TrainingLoss": ["low"]}'),
        ("training_loss.json", '{"Config": {"act_fn": "gelu"}, "TrainingLoss": []}'),
        ("behaviors.json", "[3]"),
        ("behaviors.json", '[{"position": 3}]'),
        ("features.json", '{"position": 3}'),
    ],
)
def test_a_file_beside_the_weights_that_makes_no_sense_is_named(published: Path, name: str, text: str) -> None:
    (published / name).write_text(text)
    assert name in refusal(published)


SHAPE = {"n_layers": 2, "n_heads": 3, "n_digits": 2, "d_vocab": 15, "n_ctx": 10}


def write_config(folder: Path, config: dict[str, object]) -> None:
    (folder / "training_loss.json").write_text(json.dumps({"Config": config, "TrainingLoss": []}))


def test_a_config_that_agrees_with_the_weights_is_taken(published: Path, model: Transformer) -> None:
    sizes = {name: getattr(model.config, name) for name in ("d_model", "d_head", "d_mlp")}
    write_config(published, {**SHAPE, **sizes, "d_mlp_multiplier": sizes["d_mlp"] / sizes["d_model"], "lr": 0.1})
    assert digits_of(load_published(published).model.config) == 2


@pytest.mark.parametrize("name", [*SHAPE, "d_model", "d_head", "d_mlp", "d_mlp_multiplier"])
def test_weights_of_another_shape_than_their_config_are_refused(published: Path, name: str) -> None:
    write_config(published, {**SHAPE, name: 7})
    message = refusal(published)
    assert re.search(rf"training_loss\.json.*{name}\b.*\b7\b.*{published}/model\.pth", message)


def test_a_repository_is_fetched_by_its_name(published: Path, model: Transformer, tokens: Tensor) -> None:
    asked: list[tuple[str, Sequence[str]]] = []

    def download(repo: str, names: Sequence[str]) -> Path:
        asked.append((repo, names))
        return published

    found = load_published(f"hf:{REPO}", download=download)
    assert torch.equal(found.model(tokens), model(tokens))
    assert asked == [(REPO, ("model.pth", "training_loss.json", "behaviors.json", "features.json"))]


def test_without_a_network_the_repository_is_named_in_one_line() -> None:
    def download(repo: str, names: Sequence[str]) -> Path:
        raise ConnectionError("Name or service not known\nCheck your connection.")

    message = refusal(f"hf:{REPO}", download=download)
    assert message.startswith(REPO)
    assert "Name or service not known" in message


def test_the_hub_library_itself_reports_being_offline(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    constants = importlib.import_module("huggingface_hub.constants")
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path))
    assert REPO in refusal(f"hf:{REPO}")


@pytest.mark.parametrize("source", ["hf:", "hf:QuantaMaths", "hf:a/b/c", "hf:../../etc", "hf:a/b c"])
def test_a_name_that_is_no_repository_is_refused_before_any_network(source: str) -> None:
    assert f"'{source}'" in refusal(source)


@pytest.mark.parametrize("positions", [1, 4, 9, 11])
def test_a_length_that_fits_no_number_of_digits_is_refused(published: Path, positions: int) -> None:
    state = torch.load(published / "model.pth", weights_only=True)
    torch.save(state | {"pos_embed.W_pos": torch.zeros(positions, 12)}, published / "model.pth")
    assert f"{positions} positions" in refusal(published)
