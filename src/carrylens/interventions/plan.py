"""Plan: an edit laid out by layer, and the places that must be computed anew because of it.

Takes  an edit and a model's shape.
Gives  `EditPlan`: what is done at each layer; and its `Footprint`: edits of one footprint are run in one batch.
Never  touches a tensor.

What an edit cannot change is not computed:
1. Layers before its first site are those of the clean pass.
2. So are positions before its first position: none reads a later one.
3. After a change, a position is computed anew if its own stream changed or if it can attend to one that did.
4. In the last layer only the positions whose logits are read are computed; a node of the last layer anywhere else is
   read by no component, and to change it changes nothing.
5. Where one output is wanted, no position after it is computed, and in the last layer no other.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property, lru_cache

from carrylens.interventions.checks import outside
from carrylens.interventions.edits import Add, DifferencePatch, Edge, Edit, KeepOnly, Replace
from carrylens.interventions.sites import Input, Residual, Site
from carrylens.model.config import ModelConfig
from carrylens.nodes import Node

Positions = tuple[int, ...]
_KEPT = 1 << 14  # plans and routes: a search makes the same edits over and over


@dataclass(frozen=True)
class Act:
    """One change at some sites of one kind in one layer; `heads` is empty for MLPs and residual states."""

    change: Replace | Add | DifferencePatch
    positions: Positions
    heads: Positions = ()


@dataclass(frozen=True)
class Send:
    """A sender of an edge; `edge` is the edge's place among the edit's changes."""

    edge: int
    position: int
    head: int | None


@dataclass(frozen=True)
class Receive:
    """A reader of edges: for each of its inputs that receive, the edges by their places among the edit's changes."""

    position: int
    head: int | None
    inputs: Mapping[Input, list[int]]


@dataclass
class LayerPlan:
    """What an edit does in one layer, in the order in which it happens there."""

    residual: list[Act] = field(default_factory=list)
    received_by_heads: list[Receive] = field(default_factory=list)
    heads: list[Act] = field(default_factory=list)
    sent_by_heads: list[Send] = field(default_factory=list)
    received_by_mlp: list[Receive] = field(default_factory=list)
    mlp: list[Act] = field(default_factory=list)
    sent_by_mlp: list[Send] = field(default_factory=list)


@dataclass(frozen=True)
class LayerFootprint:
    """The positions an edit itself acts at in one layer."""

    residual: Positions = ()
    reading: Positions = ()
    heads: Positions = ()
    mlp: Positions = ()


@dataclass(frozen=True)
class Footprint:
    """The positions an edit itself acts at, layer by layer; the last entry is the stream that the logits read.

    Where only the logits at position `until` are wanted, nothing is computed that they cannot depend on.
    """

    layers: tuple[LayerFootprint, ...]
    until: int | None = None


@dataclass(frozen=True)
class LayerRoute:
    """Positions in one layer, sorted: whose entering stream differs, whose heads look anew, whose heads' and whose
    MLP's writes are in hand."""

    dirty: Positions
    attending: Positions
    heads: Positions
    out: Positions


@dataclass(frozen=True)
class EditPlan:
    """What an edit does at each layer; the layer after the last stands for the logits."""

    edit: Edit
    layers: tuple[LayerPlan, ...]
    footprint: Footprint

    @cached_property
    def moments(self) -> frozenset[tuple[int, str]]:
        """The layers and moments, as `LayerPlan` names them, at which it does something."""
        names = [each.name for each in fields(LayerPlan)]
        return frozenset((at, name) for at, layer in enumerate(self.layers) for name in names if getattr(layer, name))


def computed_positions(config: ModelConfig, layer: int) -> range:
    """The positions whose stream after `layer` some later component reads."""
    return config.reads if layer >= config.n_layers - 1 else range(config.reads.stop)


@lru_cache(maxsize=_KEPT)
def plan_edit(edit: Edit, config: ModelConfig, until: int | None = None) -> EditPlan:
    """The edit laid out by layer, without sites that no later component reads.

    Only the logits at position `until` need be right, if one is given.
    """
    layers = tuple(LayerPlan() for _ in range(config.n_layers + 1))
    for number, change in enumerate(edit.changes):
        if isinstance(change, Edge):
            _lay_out_senders(number, change, config, layers)
        elif isinstance(change, KeepOnly):
            ablation = Replace(outside(change.nodes, config), change.fill, seed=change.seed)
            _lay_out_sites(ablation, config, layers)
        else:
            _lay_out_sites(change, config, layers)
    _lay_out_receivers(edit, config, layers)
    parts = tuple(map(_footprint, layers))
    by_nodes = not any(part.residual or part.reading for part in parts)
    return EditPlan(edit, layers, Footprint(parts, until if by_nodes else None))


@lru_cache(maxsize=_KEPT)
def route(footprint: Footprint, config: ModelConfig) -> tuple[tuple[LayerRoute, ...], Positions]:
    """The positions to compute in each layer, and those whose logits are to be computed."""
    routes, dirty = list[LayerRoute](), set[int]()
    for layer, own in enumerate(footprint.layers[:-1]):
        computed = computed_positions(config, layer)
        if footprint.until is not None:
            dirty = {position for position in dirty if position <= footprint.until}
            is_last = layer == config.n_layers - 1
            computed = range(footprint.until if is_last else computed.start, footprint.until + 1)
        dirty |= set(own.residual)
        first = min(dirty, default=computed.stop)
        attending = {position for position in computed if position >= first} | set(own.reading)
        heads = attending | set(own.heads)
        out = heads | set(own.mlp)
        routes.append(LayerRoute(*(tuple(sorted(part)) for part in (dirty, attending, heads, out))))
        dirty = out
    last = footprint.layers[-1]
    read = dirty | set(last.residual) | set(last.mlp)
    return tuple(routes), tuple(sorted(read if footprint.until is None else read & {footprint.until}))


def batch_rows(footprint: Footprint, config: ModelConfig, places: int) -> int:
    """How many rows of a footprint have at most so many places in hand; one at least."""
    routes, read = route(footprint, config)
    return max(1, places // max(len(read), *(len(way.out) for way in routes), 1))


def footprint_groups(
    n_rows: Mapping[Footprint, int], config: ModelConfig, places: int
) -> Iterator[tuple[list[Footprint], Footprint]]:
    """Footprints that are run together, each list with a footprint that has all their places.

    One that fills a batch is run by itself. Others go together if they begin at one layer and position: after that
    layer the same places are computed for all of them.
    """
    small: dict[tuple[int, int, int | None], list[Footprint]] = {}
    for footprint, count in n_rows.items():
        start = _start(footprint)
        if not count:
            continue
        if start is None or count >= batch_rows(footprint, config, places):
            yield [footprint], footprint
        else:
            small.setdefault((*start, footprint.until), []).append(footprint)
    for (*_, until), some in small.items():
        layers = zip(*(each.layers for each in some), strict=True)
        yield some, Footprint(tuple(_joined(parts) for parts in layers), until)


def _start(footprint: Footprint) -> tuple[int, int] | None:
    # The first layer in which something is done, and the first position there; None where an edge is cut.
    if any(layer.reading for layer in footprint.layers):
        return None
    for number, layer in enumerate(footprint.layers):
        if positions := {*layer.residual, *layer.heads, *layer.mlp}:
            return number, min(positions)
    return None


def _joined(parts: Sequence[LayerFootprint]) -> LayerFootprint:
    names = [each.name for each in fields(LayerFootprint)]
    return LayerFootprint(**{name: _sorted(at for part in parts for at in getattr(part, name)) for name in names})


def _lay_out_sites(change: Replace | Add | DifferencePatch, config: ModelConfig, layers: tuple[LayerPlan, ...]) -> None:
    for layer, plan in enumerate(layers):
        live = [site for site in change.sites if site.layer == layer and _is_read(site, config)]
        streams = [site for site in live if isinstance(site, Residual)]
        heads = [site for site in live if isinstance(site, Node) and site.head is not None]
        mlps = [site for site in live if isinstance(site, Node) and site.head is None]
        if streams:
            plan.residual.append(Act(change, _positions(streams)))
        if heads:
            plan.heads.append(Act(change, _positions(heads), tuple(site.head or 0 for site in heads)))
        if mlps:
            plan.mlp.append(Act(change, _positions(mlps)))


def _lay_out_senders(number: int, change: Edge, config: ModelConfig, layers: tuple[LayerPlan, ...]) -> None:
    for sender in change.senders:
        assert isinstance(sender, Node)
        if _is_read(sender, config):
            plan = layers[sender.layer]
            (plan.sent_by_mlp if sender.is_mlp else plan.sent_by_heads).append(
                Send(number, sender.position, sender.head)
            )


def _lay_out_receivers(edit: Edit, config: ModelConfig, layers: tuple[LayerPlan, ...]) -> None:
    readers: dict[tuple[int, int, int | None], dict[Input, list[int]]] = {}
    for number, change in enumerate(edit.changes):
        for receiver in change.receivers if isinstance(change, Edge) else ():
            layer = config.n_layers if receiver.layer is None else receiver.layer
            if receiver.position in computed_positions(config, layer):
                inputs = readers.setdefault((layer, receiver.position, receiver.head), {})
                inputs.setdefault(receiver.input, []).append(number)
    for (layer, position, head), inputs in readers.items():
        plan = layers[layer]
        (plan.received_by_mlp if head is None else plan.received_by_heads).append(Receive(position, head, inputs))


def _is_read(site: Site, config: ModelConfig) -> bool:
    # A residual state is read by its own layer, a node's write by the layers after it.
    layer = site.layer - 1 if isinstance(site, Residual) else site.layer
    return site.position in computed_positions(config, layer)


def _footprint(plan: LayerPlan) -> LayerFootprint:
    return LayerFootprint(
        residual=_sorted(position for act in plan.residual for position in act.positions),
        reading=_sorted(received.position for received in plan.received_by_heads),
        heads=_sorted(position for act in plan.heads for position in act.positions),
        mlp=_sorted(
            [position for act in plan.mlp for position in act.positions]
            + [received.position for received in plan.received_by_mlp]
        ),
    )


def _positions(sites: Iterable[Site]) -> Positions:
    return tuple(site.position for site in sites)


def _sorted(positions: Iterable[int]) -> Positions:
    return tuple(sorted(set(positions)))
