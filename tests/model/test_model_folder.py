import errno
import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from torch import Tensor

from carrylens import folders as manifest
from carrylens.arithmetic.model_shapes import arithmetic_config, config_of_width
from carrylens.errors import CarryLensError
from carrylens.files import write_flushed
from carrylens.folders import check_sealed, write_sealed
from carrylens.model import Transformer, load_model, save_model

FILES = ["config.json", "manifest.json", "model.safetensors"]


@pytest.fixture
def saved(model: Transformer, tmp_path: Path) -> Path:
    save_model(model, tmp_path / "a model")
    return tmp_path / "a model"


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def refusal(folder: Path) -> str:
    with pytest.raises(CarryLensError) as caught:
        load_model(folder)
    message = str(caught.value)
    assert str(folder) in message
    assert "\n" not in message
    return message


def resealed(folder: Path, name: str, content: bytes) -> str:
    """What is said of a folder that was sealed with this content."""
    write_sealed(folder, {name: content}, also=[other for other in FILES if other not in (name, "manifest.json")])
    return refusal(folder)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_a_model_comes_back_from_its_folder_bit_for_bit(model: Transformer, tmp_path: Path, dtype: torch.dtype) -> None:
    save_model(model.to(dtype), tmp_path)
    loaded = load_model(tmp_path)
    assert loaded.config == model.config
    for name, tensor in model.state_dict().items():
        assert tensor.dtype == dtype
        assert torch.equal(tensor, loaded.state_dict()[name]), name


def test_equal_models_make_equal_files(model: Transformer, saved: Path, tmp_path: Path) -> None:
    save_model(load_model(saved), tmp_path / "again")
    assert contents(saved) == contents(tmp_path / "again")
    assert sorted(contents(saved)) == FILES


def test_a_folder_without_a_manifest_is_unfinished(saved: Path) -> None:
    (saved / "manifest.json").unlink()
    assert "unfinished" in refusal(saved)


def test_a_folder_that_is_not_there_is_named(tmp_path: Path) -> None:
    assert "nowhere" in refusal(tmp_path / "nowhere")


@pytest.mark.parametrize("name", ["config.json", "model.safetensors"])
def test_a_missing_file_is_named(saved: Path, name: str) -> None:
    (saved / name).unlink()
    assert re.search(f"{name}.*{os.strerror(errno.ENOENT)}", refusal(saved))


@pytest.mark.parametrize("name", ["config.json", "model.safetensors"])
def test_a_file_changed_by_one_byte_is_refused(saved: Path, name: str) -> None:
    content = bytearray((saved / name).read_bytes())
    content[-2] ^= 1
    (saved / name).write_bytes(content)
    assert re.search(f"{name}.*manifest.json", refusal(saved))


def test_a_file_cut_short_is_refused(saved: Path) -> None:
    os.truncate(saved / "model.safetensors", 1000)
    assert re.search("model.safetensors.*manifest.json", refusal(saved))


@pytest.mark.parametrize("length", [0, 4, 1000])
def test_weights_cut_short_before_they_were_sealed_are_refused(saved: Path, length: int) -> None:
    content = (saved / "model.safetensors").read_bytes()[:length]
    assert "model.safetensors" in resealed(saved, "model.safetensors", content)


def test_a_config_that_is_not_json_is_refused(saved: Path) -> None:
    assert "config.json" in resealed(saved, "config.json", b"digits: 2")


def test_weights_of_another_shape_than_the_config_says_are_refused(saved: Path) -> None:
    other = arithmetic_config(digits=2, n_layers=2, n_heads=4, d_model=12, d_head=3, d_mlp=20)
    assert "W_Q with shape [3, 12, 4]" in resealed(saved, "config.json", other.to_json().encode())


def test_a_config_of_monstrous_size_is_refused_at_once(saved: Path) -> None:
    monster = arithmetic_config(digits=2, n_layers=10**12, n_heads=3, d_model=12, d_head=4, d_mlp=20)
    assert "blocks.2" in resealed(saved, "config.json", monster.to_json().encode())


def test_weights_that_are_not_finite_are_neither_saved_nor_loaded(model: Transformer, saved: Path) -> None:
    with torch.no_grad():
        model.embed.W_E[3, 3] = torch.nan
    before = contents(saved)
    with pytest.raises(CarryLensError, match=r"embed\.W_E"):
        save_model(model, saved)
    assert contents(saved) == before


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("sha256", "manifest.json"),
        ("[]", "manifest.json"),
        ('{"sha256": 3}', "manifest.json"),
        ('{"sha256": {}}', "config.json"),
        ('{"sha256": {"../secret": "0"}}', "'../secret'"),
    ],
)
def test_a_manifest_that_says_nothing_useful_is_refused(saved: Path, text: str, complaint: str) -> None:
    (saved / "manifest.json").write_text(text)
    assert complaint in refusal(saved)


def test_a_full_disk_leaves_the_earlier_model_intact(
    model: Transformer, tokens: Tensor, saved: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before, logits = contents(saved), model(tokens)
    write = write_flushed

    for full_at in FILES:

        def fill(path: Path, content: bytes, full_at: str = full_at) -> None:
            if full_at in path.name:
                write(path, content[: len(content) // 2])
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            write(path, content)

        monkeypatch.setattr(manifest, "write_flushed", fill)
        with pytest.raises(CarryLensError, match=os.strerror(errno.ENOSPC)):
            save_model(Transformer(model.config), saved)
        assert contents(saved) == before
    assert torch.equal(load_model(saved)(tokens), logits)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no device that is always full")
def test_a_device_that_is_really_full_is_reported(saved: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    full = os.open("/dev/full", os.O_WRONLY)

    def write(_: Path, content: bytes) -> None:
        os.write(full, content)

    monkeypatch.setattr(manifest, "write_flushed", write)
    with pytest.raises(CarryLensError, match=os.strerror(errno.ENOSPC)):
        save_model(load_model(saved), saved)


def test_a_folder_that_cannot_be_made_is_reported(model: Transformer, saved: Path) -> None:
    with pytest.raises(CarryLensError, match="inside.*Not a directory"):
        save_model(model, saved / "config.json" / "inside")


def test_a_folder_in_the_place_of_a_file_is_seen_before_anything_changes(model: Transformer, saved: Path) -> None:
    (saved / "model.safetensors").unlink()
    (saved / "model.safetensors").mkdir()
    before = {path: path.read_bytes() for path in saved.iterdir() if path.is_file()}
    with pytest.raises(CarryLensError, match="model.safetensors"):
        save_model(Transformer(config_of_width(2, 1, 3, width=12)), saved)
    assert {path: path.read_bytes() for path in saved.iterdir() if path.is_file()} == before
    assert not list(saved.glob(".*"))


def test_a_save_killed_before_its_end_is_never_loaded_as_finished(tmp_path: Path) -> None:
    killed_at_manifest = """
import os, signal, sys
from pathlib import Path
from carrylens.arithmetic.model_shapes import arithmetic_config
from carrylens.model import Transformer, save_model
replace = Path.replace
def replace_or_die(draft, target):
    if target.name == "manifest.json":
        os.kill(os.getpid(), signal.SIGKILL)
    return replace(draft, target)
Path.replace = replace_or_die
save_model(Transformer(arithmetic_config(1, 1, 1, 2, 2, 2)), sys.argv[1])
"""
    done = subprocess.run([sys.executable, "-c", killed_at_manifest, str(tmp_path)], check=False)
    assert done.returncode == -signal.SIGKILL
    assert not (tmp_path / "model.safetensors").exists()
    assert "unfinished" in refusal(tmp_path)
    save_model(Transformer(arithmetic_config(1, 1, 1, 2, 2, 2)), tmp_path)
    load_model(tmp_path)


def test_other_files_can_be_sealed_with_the_model(model: Transformer, tmp_path: Path) -> None:
    (tmp_path / "training.jsonl").write_text('{"step": 1}\n')
    save_model(model, tmp_path, also=["training.jsonl"])
    assert check_sealed(tmp_path) == ("config.json", "model.safetensors", "training.jsonl")
    (tmp_path / "training.jsonl").write_text('{"step": 2}\n')
    with pytest.raises(CarryLensError, match=r"training\.jsonl.*manifest\.json"):
        check_sealed(tmp_path)
    load_model(tmp_path)


def test_sealing_a_file_that_is_not_there_is_refused(model: Transformer, tmp_path: Path) -> None:
    with pytest.raises(CarryLensError, match=r"README\.md.*No such file"):
        save_model(model, tmp_path / "new", also=["README.md"])


def test_the_manifest_lists_the_hash_of_each_file(saved: Path) -> None:
    listed = json.loads((saved / "manifest.json").read_text())["sha256"]
    for name, value in listed.items():
        summed = subprocess.run(["sha256sum", saved / name], capture_output=True, text=True, check=True).stdout
        assert summed.split()[0] == value
    assert sorted(listed) == ["config.json", "model.safetensors"]
