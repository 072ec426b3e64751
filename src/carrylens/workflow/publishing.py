"""Publishing: a model with all that is known of it, as a model repository on the Hugging Face Hub.

Takes  a model that was found, `hf:owner/name`.
Gives  the files that go up: card, weights, the published formats, analyses, page and explorer; the address.
Never  uploads half of them: all files become one commit, or none does. Never asks for, prints or keeps a token.
"""

from __future__ import annotations

import hashlib
import io
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from time import sleep
from typing import Any

from carrylens import __version__
from carrylens.arithmetic.published_map import published_files
from carrylens.arithmetic.task import ArithmeticTask, find_task
from carrylens.arithmetic.zoo.model_facts import CARD, history
from carrylens.discovery.node_map import MAP
from carrylens.discovery.saved_map import read_map
from carrylens.errors import CarryLensError, quote
from carrylens.files import inner_folder
from carrylens.folders import CONFIG, MANIFEST, WEIGHTS, Manifest, read_checked
from carrylens.json_records import to_text
from carrylens.model.config import ConfigRecord
from carrylens.model.hub import HUB
from carrylens.model.source import ModelSource
from carrylens.progress import Progress, silent
from carrylens.workflow.published_analyses import saved_analyses
from carrylens.workflow.reading import EXPLORER, PAGE

_TRIES, _WAIT = 4, 1.0
_REPOSITORY = r"[A-Za-z0-9][\w.-]{0,95}/[A-Za-z0-9_][\w.-]{0,95}"
_REFUSED = (401, 403)


@dataclass(frozen=True)
class Publication:
    """What goes up, and where to."""

    repository: str
    files: Mapping[str, bytes]

    @property
    def size(self) -> int:
        """All files together, in bytes."""
        return sum(map(len, self.files.values()))


def publication_of(source: ModelSource, target: str) -> Publication:
    """The repository's files, made from the model and what was saved about it."""
    repository = target.removeprefix(HUB)
    if not target.startswith(HUB) or re.fullmatch(_REPOSITORY, repository) is None:
        raise CarryLensError(f"{quote(target)} does not name a repository. Write hf:owner/name.")
    files = {**dict(_model_files(source)), **saved_analyses(source)}
    if MAP in files and isinstance(source.task, ArithmeticTask) and source.task.question_layout.is_standard:
        place = next(place for place in source.analysis_places(None) if (place / MAP).is_file())
        files |= {name: _bytes(text) for name, text in published_files(read_map(place / MAP, find_task)).items()}
    files[CARD] = _card(source, repository, files).encode()
    sealed = {
        name: hashlib.sha256(content).hexdigest() for name, content in files.items() if name not in (PAGE, EXPLORER)
    }
    files[MANIFEST] = (to_text(Manifest(dict(sorted(sealed.items()))), indent=2) + "\n").encode()
    return Publication(repository, dict(sorted(files.items())))


def publish(
    made: Publication,
    *,
    token: str | None = None,
    endpoint: str | None = None,
    private: bool = False,
    progress: Progress = silent,
    wait: Callable[[float], None] = sleep,
) -> str:
    """Make the repository if it is not there, and upload all files as one commit; the address of the repository.

    What fails on the way is tried again a few times. A commit is whole or not there, so that an interrupted upload
    leaves the repository as it was, and the same call does it again.
    """
    hub = import_module("huggingface_hub")
    api = hub.HfApi(endpoint=endpoint, token=token)
    operations = [hub.CommitOperationAdd(name, content) for name, content in made.files.items()]

    def upload() -> str:
        progress("making the repository", 0, 2)
        api.create_repo(made.repository, private=private, exist_ok=True)
        progress(f"uploading {len(made.files)} files", 1, 2)
        message = f"carrylens {__version__}"
        return str(api.create_commit(made.repository, operations, commit_message=message).repo_url)

    return _tried(upload, made.repository, wait)


def _tried(upload: Callable[[], str], repository: str, wait: Callable[[float], None]) -> str:
    for attempt in range(1, _TRIES + 1):
        try:
            return upload()
        except CarryLensError:
            raise
        except Exception as error:  # whatever network, server or library says
            status = getattr(getattr(error, "response", None), "status_code", None)
            if status in _REFUSED:
                raise CarryLensError(
                    f"The Hub refused to let you write to {repository} ({status}). Log in with a token that may write: "
                    "hf auth login."
                ) from error
            is_final = isinstance(status, int) and 400 <= status < 500 and status != 429
            if attempt == _TRIES or is_final:
                reason = (str(error).strip() or type(error).__name__).splitlines()[0]
                raise CarryLensError(
                    f"{repository} could not be published ({reason}). Nothing was committed; write the command again."
                ) from error
            wait(_WAIT * 2 ** (attempt - 1))
    raise AssertionError("the last try ends in one way or the other")


def _model_files(source: ModelSource) -> Iterator[tuple[str, bytes]]:
    from safetensors.torch import save

    model = source.load()
    spec = {} if model.task is None else dict(model.task.spec)
    yield CONFIG, (to_text(ConfigRecord.of(model.config, spec), indent=2) + "\n").encode()
    state = {name: tensor.detach().cpu().contiguous() for name, tensor in model.state_dict().items()}
    yield WEIGHTS, save(state)
    if isinstance(source.task, ArithmeticTask) and source.task.question_layout.is_standard:
        yield "model.pth", _pickled(model)
        losses = [] if source.folder is None else [note for note in history(source.folder) if "step" in note]
        if losses:
            yield "training_loss.json", _losses(source, model, losses)


def _pickled(model: Any) -> bytes:
    import torch

    from carrylens.model.exchange import to_transformer_lens_state

    out = io.BytesIO()
    torch.save(to_transformer_lens_state(model), out)
    return out.getvalue()


def _losses(source: ModelSource, model: Any, notes: list[dict[str, Any]]) -> bytes:
    # The published form has a loss for every step. Ours are means over the steps since the note before: each stands
    # once for every step it is the mean of.
    config, losses, before = model.config, [], 0
    for note in notes:
        losses += [note["loss"]] * (note["step"] - before)
        before = note["step"]
    shape = {name: getattr(config, name) for name in ("n_layers", "n_heads", "d_model", "d_head", "d_mlp", "n_ctx")}
    assert isinstance(source.task, ArithmeticTask)
    about = {**shape, "d_vocab": config.d_vocab, "n_digits": source.task.digits, "training_seed": config.seed}
    return (to_text({"Config": about, "TrainingLoss": losses}) + "\n").encode()


def _bytes(text: str | bytes) -> bytes:
    return text.encode() if isinstance(text, str) else text


def _card(source: ModelSource, repository: str, files: Mapping[str, bytes]) -> str:
    own = "" if source.folder is None else _text(inner_folder(source.folder, CARD))
    about = own or f"# {source.name}\n\nA small transformer for {source.task.name}, made with carrylens.\n"
    listed = "\n".join(f"- `{name}`, {len(content):,} bytes" for name, content in sorted(files.items()))
    head = "---\nlicense: apache-2.0\nlibrary_name: carrylens\ntags:\n- arithmetic\n- interpretability\n---\n\n"
    use = (
        f"```sh\nhf download {repository} --local-dir my_model\n```\n\n"
        '```python\nimport carrylens as cl\n\nmodel = cl.load("my_model")\n```\n'
    )
    return f"{head}{about.strip()}\n\n## Use\n\n{use}\n## Files\n\n{listed}\n"


def _text(path: Path) -> str:
    # A person may have written it, so it need not be sealed; if it is, it must be as it was.
    if not path.is_file():
        return ""
    if path.stat().st_nlink > 1:
        raise CarryLensError(f"{path} has a second name elsewhere, so it may be another file. Replace it by a copy.")
    return read_checked(path, "Restore it, or remove it.")[0].decode("utf-8", "replace")
