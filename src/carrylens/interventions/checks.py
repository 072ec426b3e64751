"""Checks: whether an edit can be made on a model at all.

Takes  an edit, a model's shape, and what was given to run it with.
Gives  nothing, or one clear line about what is wrong with it.
Never  lets an edit pass that would do nothing or something else than it says.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from itertools import product

import numpy as np

from carrylens.errors import CarryLensError
from carrylens.interventions.edits import (
    Add,
    Change,
    DifferencePatch,
    Edge,
    Edit,
    Fill,
    KeepOnly,
    Norm,
    Replace,
    slots_of,
)
from carrylens.interventions.sites import Input, Receiver, Residual, Site
from carrylens.model.config import ModelConfig
from carrylens.nodes import Node, all_nodes

_LEAST = 2.0**-24  # of a share: in the model's precision so little of anything is lost in rounding
_LEAST_ADDED = 1e-12  # to a number of a residual state, which are of the order of 1


@lru_cache(maxsize=1 << 14)
def check_edit(edit: Edit, config: ModelConfig, n_slots: int, has_reference: bool) -> None:
    """Refuse an edit that this model, these sources or this reference cannot serve."""
    if not edit.changes:
        raise CarryLensError("The edit has no changes. Give at least one.")
    for change in edit.changes:
        _check_given(change, n_slots, has_reference)
        if isinstance(change, Edge):
            _check_edge(change, config)
        elif isinstance(change, KeepOnly):
            _check_kept(change, config)
        else:
            _check_sites(change.sites, config)
            if not isinstance(change, DifferencePatch):
                _check_amount(change, config)
    _check_once(edit, config)
    _check_edges_once(edit)


def outside(kept: Sequence[Site], config: ModelConfig) -> tuple[Node, ...]:
    """Every node of the model but those kept."""
    inside = set(kept)
    every = all_nodes(config.n_ctx, config.n_layers, config.n_heads, config.has_mlp)
    return tuple(node for node in every if node not in inside)


def _check_given(change: Change, n_slots: int, has_reference: bool) -> None:
    fill = change.fill if isinstance(change, Replace | KeepOnly) else None
    if fill is Fill.SOURCE and isinstance(change, KeepOnly):
        raise CarryLensError(f"{change} has no source question to take from. Fill with zero, mean or resample.")
    if isinstance(change, DifferencePatch) and change.source == change.less:
        raise CarryLensError(f"{change} changes nothing. Name two slots.")
    for slot in slots_of(change):
        if not 0 <= slot < n_slots:
            raise CarryLensError(
                f"{change} takes from source {slot}, but {n_slots} were given. Give the source questions."
            )
    if fill in (Fill.MEAN, Fill.CLASS_MEAN, Fill.RESAMPLE) and not has_reference:
        raise CarryLensError(f"{change} needs reference questions, but none were given. Give reference=.")


def _check_sites(sites: Sequence[Site], config: ModelConfig) -> None:
    if not sites:
        raise CarryLensError("The edit has no nodes. Name at least one, such as P10L0H2.")
    for site in sites:
        is_residual = isinstance(site, Residual)
        n_layers = config.n_layers + is_residual
        head = None if isinstance(site, Residual) else site.head
        if site.position >= config.n_ctx or site.layer >= n_layers or (head or 0) >= config.n_heads:
            _refuse(str(site), config, n_layers)
        if not is_residual and head is None:
            _check_mlp(str(site), config)


def _check_mlp(name: str, config: ModelConfig) -> None:
    if not config.has_mlp:
        raise CarryLensError(f"{name} is not in this model: it has no MLPs. Name a head, such as P10L0H2.")


def _refuse(name: str, config: ModelConfig, n_layers: int) -> None:
    raise CarryLensError(
        f"{name} is not in this model: it has positions 0 to {config.n_ctx - 1}, layers 0 to {n_layers - 1} "
        f"and heads 0 to {config.n_heads - 1}. Name a node it has."
    )


def _check_kept(change: KeepOnly, config: ModelConfig) -> None:
    if any(isinstance(site, Residual) for site in change.nodes):
        raise CarryLensError(f"{change} keeps a residual state. Keep nodes: heads and MLPs.")
    if change.nodes:
        _check_sites(change.nodes, config)
    if not outside(change.nodes, config):
        raise CarryLensError("Every node is kept, so nothing is ablated. Keep fewer.")


def _check_amount(change: Replace | Add, config: ModelConfig) -> None:
    if isinstance(change, Replace):
        _check_number(change, change.share, "a share", _LEAST)
    else:
        _check_number(change, change.amount, "an amount")
    vectors = change.basis if isinstance(change, Replace) else (change.direction,)
    if vectors:
        _check_vectors(change, vectors, config)
    if isinstance(change, Add) and abs(change.amount) * np.abs(change.direction).max() < _LEAST_ADDED:
        raise CarryLensError(f"{change} changes nothing: to the model its direction is zero. Give a longer one.")


def _check_vectors(change: Change, vectors: Sequence[Sequence[float]], config: ModelConfig) -> None:
    for vector in vectors:
        if len(vector) != config.d_model:
            raise CarryLensError(
                f"{change} has a vector of {len(vector)} numbers, but the model is {config.d_model} wide. "
                f"Give {config.d_model}."
            )
    given = np.array(vectors)
    if not (np.abs(given) <= np.finfo(np.float32).max).all():
        raise CarryLensError(f"{change} has a vector with a number that is not finite. Give finite ones.")
    if np.linalg.matrix_rank(given) < len(vectors):
        raise CarryLensError(
            f"{change}: its vectors are zero or not independent, so they span less than they seem to. Leave some out."
        )
    apart = np.abs(given - given.mean(1, keepdims=True)).max()
    if config.normalization_type is not None and apart < _LEAST * np.abs(given).max():
        raise CarryLensError(
            f"{change} changes nothing: LayerNorm takes out what all numbers have in common. Give a vector whose "
            "numbers differ."
        )


def _check_number(change: Change, number: float, what: str, least: float = 0.0) -> None:
    # As the model's numbers go: what is 0 or infinite there is so here.
    with np.errstate(over="ignore", under="ignore"):
        held = float(np.float32(number))
    if held == 0 or abs(held) < least:
        raise CarryLensError(f"{change} changes nothing in the model's precision. Give {what} farther from 0.")
    if not math.isfinite(held):
        raise CarryLensError(
            f"{change} cannot be made: {number:g} is not a finite number in the model's precision. Give {what} that is."
        )


def _check_edge(change: Edge, config: ModelConfig) -> None:
    if any(isinstance(site, Residual) for site in change.senders):
        raise CarryLensError(f"{change} is sent by a residual state. Name heads and MLPs as senders.")
    _check_sites(change.senders, config)
    _check_number(change, change.share, "a share", _LEAST)
    if not change.receivers:
        raise CarryLensError("The edge has no receivers. Name one, such as P17L1H2.k or P17.logits.")
    senders = [site for site in change.senders if isinstance(site, Node)]
    for receiver in change.receivers:
        _check_receiver(receiver, config)
        if not any(reads(receiver, sender) for sender in senders):
            raise CarryLensError(
                f"{receiver} cannot read {' or '.join(map(str, senders))}: no component reads a later layer, a later "
                "place, or, but with keys and values, another place. Name a receiver that comes after its sender."
            )
    for sender in senders:
        if not any(reads(receiver, sender) for receiver in change.receivers):
            raise CarryLensError(f"None of the receivers reads {sender}. Leave it out, or name a receiver after it.")


def _check_receiver(receiver: Receiver, config: ModelConfig) -> None:
    layer, head = receiver.layer or 0, receiver.head or 0
    if receiver.position >= config.n_ctx or layer >= config.n_layers or head >= config.n_heads:
        _refuse(str(receiver), config, config.n_layers)
    if receiver.input is Input.MLP:
        _check_mlp(str(receiver), config)


def reads(receiver: Receiver, sender: Site) -> bool:
    """Whether what the sender, a node, writes is part of what the receiver reads."""
    assert isinstance(sender, Node)
    if receiver.layer is None:
        return receiver.position == sender.position
    if receiver.input is Input.MLP:
        before = sender.layer < receiver.layer or (sender.layer == receiver.layer and not sender.is_mlp)
        return receiver.position == sender.position and before
    if sender.layer >= receiver.layer:
        return False
    if receiver.input is Input.QUERY:
        return receiver.position == sender.position
    return sender.position <= receiver.position


def _check_once(edit: Edit, config: ModelConfig) -> None:
    seen: set[Site] = set()
    for change in edit.changes:
        if isinstance(change, Edge):
            continue
        sites = outside(change.nodes, config) if isinstance(change, KeepOnly) else change.sites
        if twice := seen.intersection(sites):
            raise CarryLensError(
                f"{min(map(str, twice))} is changed twice in one edit, so it is unclear which change comes first. "
                "Change it once."
            )
        seen.update(sites)


def _check_edges_once(edit: Edit) -> None:
    norms: dict[Receiver, Norm] = {}
    seen: set[tuple[Site, Receiver]] = set()
    for change in (change for change in edit.changes if isinstance(change, Edge)):
        for receiver in change.receivers:
            if norms.setdefault(receiver, change.norm) is not change.norm:
                raise CarryLensError(f"{receiver} is to receive with its norm both frozen and not. Choose one.")
        every = product(change.senders, change.receivers)
        edges = {(sender, receiver) for sender, receiver in every if reads(receiver, sender)}
        if twice := sorted(f"{sender} to {receiver}" for sender, receiver in seen & edges):
            raise CarryLensError(f"The edge from {twice[0]} is changed twice in one edit. Change it once.")
        seen |= edges
