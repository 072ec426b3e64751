"""Records: what is noted of each row, as one flat array that can go to disk as it is.

Takes  logits and what an edited pass held.
Gives  one record for each row, and `Outcomes` made of them.
Never  runs a model.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from carrylens.errors import CarryLensError, quote
from carrylens.interventions.clean import Book
from carrylens.interventions.edited_pass import EditedPass, Held
from carrylens.interventions.fills import Rows
from carrylens.interventions.outcomes import Activation, Outcomes
from carrylens.interventions.parts import Parts, take
from carrylens.interventions.plan import computed_positions
from carrylens.model.config import ModelConfig

_POINTS = ("hook_resid_pre", "attn.hook_z", "hook_resid_mid", "hook_mlp_out", "hook_resid_post")
_MLP_POINTS = ("hook_resid_mid", "hook_mlp_out")
CLOSE = {torch.float32: 1e-3, torch.float64: 1e-9}
"""Logits nearer to each other than this could change places in another batch size, order or chunking.

Two of them can come nearer by twice what one can move; on the shipped models none was seen to move by more than 6e-5 in
float32, and `tests/interventions/test_engine_bits.py` holds them to an eighth of this. A model with far larger logits
moves them further.
"""


@dataclass(frozen=True)
class Request:
    """What is noted besides answers and margins; with `answers_alone` not even margins."""

    logits: bool = False
    keep: tuple[str, ...] = ()
    answers_alone: bool = False

    def check(self, config: ModelConfig) -> None:
        """Refuse names of activations that an edited pass does not have, or has been asked for already."""
        points = _POINTS if config.has_mlp else [point for point in _POINTS if point not in _MLP_POINTS]
        known = [f"blocks.{layer}.{point}" for layer in range(config.n_layers) for point in points]
        for name in self.keep:
            if name not in known:
                raise CarryLensError(
                    f"{quote(name)} is not kept by an edited pass. Write blocks.LAYER. and {' or '.join(points)}."
                )
        if len(set(self.keep)) < len(self.keep):
            raise CarryLensError(f"{', '.join(self.keep)} names an activation twice. Name each once.")


@dataclass(frozen=True, eq=False)
class Records:
    """One record a row, and the clean outcome of every question."""

    request: Request
    config: ModelConfig
    right: NDArray[np.int8]
    rows: NDArray[np.void]
    clean: NDArray[np.void]
    tolerance: float
    idle: NDArray[np.bool_]

    @classmethod
    def blank(cls, request: Request, parts: Parts, right: NDArray[np.int8], n_rows: int) -> Records:
        """Records of rows that have not been run."""
        request.check(parts.config)
        if parts.dtype not in CLOSE:
            raise CarryLensError(f"A model in {parts.dtype} cannot be edited. Turn it into float32 or float64.")
        number = "f8" if parts.dtype is torch.float64 else "f4"
        answer = right.shape[1]
        token = token_type(parts.config).str[1:]
        plain: list[tuple[str, str, tuple[int, ...]]] = [("tokens", token, (answer,))]
        if not request.answers_alone:
            plain += [("margins", number, (answer,)), ("close", "?", (answer,))]
        asked: list[tuple[str, str, tuple[int, ...]]] = (
            [("logits", number, (answer, parts.config.d_vocab_out))] if request.logits else []
        )
        asked += [(name, number, _shape(name, parts.config)) for name in request.keep]
        clean = np.zeros(len(right), dtype=plain)
        return cls(
            request,
            parts.config,
            right,
            np.zeros(n_rows, plain + asked),
            clean,
            CLOSE[parts.dtype],
            np.zeros(n_rows, bool),
        )

    def note(self, batch: NDArray[np.int64], questions: NDArray[np.int64], edited: EditedPass, rows: Rows) -> None:
        """Write down what became of a batch."""
        if self.request.answers_alone:
            self.rows["tokens"][batch] = _answers(edited, self.clean["tokens"][questions])
            return
        logits = edited.logits()
        _note(self.rows, batch, logits, self.right[questions], self.tolerance)
        if self.request.logits:
            self.rows["logits"][batch] = logits.cpu().numpy()
        for name in self.request.keep:
            self.rows[name][batch] = _whole(name, edited, rows).cpu().numpy()

    def note_clean(self, questions: NDArray[np.int64], logits: Tensor) -> None:
        """Write down what the model answers without an edit."""
        _note(self.clean, questions, logits, self.right[questions], self.tolerance)

    def note_idle(self, rows: NDArray[np.int64], questions: NDArray[np.int64]) -> None:
        """Write down that rows answer what their questions answer without an edit."""
        self.rows["tokens"][rows] = self.clean["tokens"][questions]

    @property
    def layout(self) -> str:
        """What the bytes of a record mean, in words; records of one layout can take each other's place."""
        return f"{self.rows.dtype.descr} close {self.tolerance}"

    def outcomes(self, axes: tuple[str, ...], shape: tuple[int, ...]) -> Outcomes:
        """The records as arrays of this shape."""

        def field(name: str) -> NDArray[np.generic]:
            return np.ascontiguousarray(self.rows[name]).reshape(*shape, *self.rows[name].shape[1:])

        kept = {name: Activation(_positions(name, self.config), field(name)) for name in self.request.keep}  # type: ignore[arg-type]
        return Outcomes(
            axes=axes,
            tokens=field("tokens"),  # type: ignore[arg-type]
            margins=field("margins"),  # type: ignore[arg-type]
            close=field("close"),  # type: ignore[arg-type]
            right=self.right,
            clean_tokens=np.ascontiguousarray(self.clean["tokens"]),
            clean_margins=np.ascontiguousarray(self.clean["margins"]),
            logits=field("logits") if self.request.logits else None,  # type: ignore[arg-type]
            activations=kept,
            idle=self.idle.reshape(shape),
        )


def token_type(config: ModelConfig) -> np.dtype[np.signedinteger]:
    """The type of a token in a record."""
    return np.dtype(np.int8 if config.d_vocab_out <= 128 else np.int32)


def _answers(edited: EditedPass, clean: NDArray[np.signedinteger]) -> NDArray[np.signedinteger]:
    # The answers of a batch, where those of its questions without an edit are known.
    places, logits = edited.edited_logits()
    if places:
        _check_finite(logits)
        new = torch.where(edited.touched[:, None], logits.argmax(-1), -1).cpu().numpy()
        clean[:, list(places)] = np.where(new >= 0, new, clean[:, list(places)])
    return clean


def _check_finite(logits: Tensor) -> None:
    if not bool(logits.isfinite().all()):
        raise CarryLensError(
            "The model's logits are not finite, so it answers nothing. Give an edit of smaller numbers, or weights "
            "that do not overflow."
        )


def _note(
    records: NDArray[np.void], at: NDArray[np.int64], logits: Tensor, right: NDArray[np.int8], tolerance: float
) -> None:
    _check_finite(logits)
    if "margins" not in (records.dtype.names or ()):
        records["tokens"][at] = logits.argmax(-1).cpu().numpy()
        return
    wanted = torch.from_numpy(right.astype(np.int64)).to(logits.device)[..., None]
    top = logits.topk(2, dim=-1).values
    ours = logits.gather(-1, wanted)[..., 0]
    other = logits.scatter(-1, wanted, -torch.inf).amax(-1)
    records["tokens"][at] = logits.argmax(-1).cpu().numpy()
    records["margins"][at] = (ours - other).cpu().numpy()
    records["close"][at] = (top[..., 0] - top[..., 1] < tolerance).cpu().numpy()


def _whole(name: str, edited: EditedPass, rows: Rows) -> Tensor:
    # The activation at every position that is computed: clean where the edits changed nothing.
    _, layer, point = name.split(".", 2)
    clean, first = _clean(rows.book, int(layer), point)
    held: Held = edited.seen[name]
    positions = torch.arange(clean.shape[1], device=clean.device)
    whole = take(clean, rows.questions, positions)
    places = [at for at, position in enumerate(held.positions) if position >= first]
    new = whole.clone()
    new[:, [held.positions[at] - first for at in places]] = held.values[:, places]
    touched = edited.touched.view(-1, *[1] * (whole.dim() - 1))
    return torch.where(touched, new, whole)


def _clean(book: Book, layer: int, point: str) -> tuple[Tensor, int]:
    page = book.layers[layer]
    if point == "hook_resid_pre":
        return page.stream, 0
    if point == "hook_resid_post":
        is_last = layer == len(book.layers) - 1
        return (book.last, book.first_answer) if is_last else (book.layers[layer + 1].stream, 0)
    return {"attn.hook_z": page.z, "hook_resid_mid": page.mid, "hook_mlp_out": page.mlp}[point], page.first


def _positions(name: str, config: ModelConfig) -> range:
    _, layer, point = name.split(".", 2)
    return computed_positions(config, int(layer) - (point == "hook_resid_pre"))


def _shape(name: str, config: ModelConfig) -> tuple[int, ...]:
    own = (config.n_heads, config.d_head) if name.endswith("hook_z") else (config.d_model,)
    return (len(_positions(name, config)), *own)
