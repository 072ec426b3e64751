"""The edited pass: rows of one footprint run together, from the first place their edits can change.

Takes  a model's parts, rows that share a footprint, and the plan of each row's edit.
Gives  the logits at the positions that are read, and activations on request.
Never  computes what the clean pass already holds.

Layer by layer:
1. The stream where it is not clean: what earlier layers changed, and residual states that are replaced here.
2. Heads look anew from every place that can see such a stream; receivers of an edge look with their own input.
3. Heads' outputs are replaced, then written; what senders of edges would have written is set aside for receivers.
4. The MLP, if there is one, thinks where its input changed, its write is replaced, and both are added to the stream.
A row in which no bit was replaced is clean, and gets the clean logits to the bit.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from carrylens.interventions.clean import LayerBook
from carrylens.interventions.edits import Add, DifferencePatch, Edge, Fill, Norm, Replace
from carrylens.interventions.fills import Kind, Rows, direction, projector
from carrylens.interventions.parts import LayerParts, Parts, take
from carrylens.interventions.plan import Act, EditPlan, Footprint, LayerRoute, Positions, Receive, Send, route
from carrylens.interventions.sites import Input


@dataclass(frozen=True)
class Segment:
    """Neighbouring rows with one edit."""

    plan: EditPlan
    rows: slice


@dataclass(frozen=True)
class Held:
    """Values at some positions, axes [batch, pos, ...]."""

    positions: Positions
    values: Tensor

    def at(self, positions: Sequence[int]) -> Tensor:
        """The values at some of the positions."""
        if tuple(positions) == self.positions:
            return self.values
        return self.values[:, [self.positions.index(position) for position in positions]]


class EditedPass:
    """One batch on its way through the model."""

    def __init__(self, parts: Parts, rows: Rows, segments: Sequence[Segment], footprint: Footprint) -> None:
        self._parts, self._rows, self._segments = parts, rows, segments
        self._routes, self._read = route(footprint, parts.config)
        self._moments = frozenset[tuple[int, str]]().union(*{segment.plan.moments for segment in segments})
        self._touched = torch.zeros(len(rows.questions), dtype=torch.bool, device=parts.device)
        self._sent: dict[tuple[int, int, int], Tensor] = {}  # segment, edge, position: what receivers read besides
        self.seen: dict[str, Held] = {}

    def logits(self) -> Tensor:
        """The logits at the positions that are read, axes [batch, answer, vocab]."""
        answers, edited = self.edited_logits()
        clean = self._rows.book.logits[self._rows.questions]
        if not answers:
            return clean
        new = clean.clone()
        new[:, list(answers)] = edited
        return torch.where(self._touched[:, None, None], new, clean)

    def edited_logits(self) -> tuple[Positions, Tensor]:
        """Which answers the edits may change, by their places, and their logits: to be used in touched rows alone."""
        held = Held((), self._parts.mask.new_zeros(len(self._rows.questions), 0, self._parts.config.d_model))
        for number in range(len(self._parts.layers)):
            held = self._layer(number, held)
        first, last = self._rows.book.first_answer, len(self._parts.layers)
        if not self._read:
            return (), self._rows.book.logits[:0]
        stream = Held(self._read, self._stream(last, held, self._read))
        if self._acts(last, "residual"):
            self._clean_untouched(stream, self._rows.book.last, first)
        for segment in self._segments:
            for act in segment.plan.layers[last].residual:
                self._apply(last, Kind.STREAM, act, segment, stream)
        self.seen[f"blocks.{last - 1}.hook_resid_post"] = stream
        edited = self._parts.logits(stream.values)
        self._receive_logits(stream, edited)
        return tuple(position - first for position in self._read), edited

    @property
    def touched(self) -> Tensor:
        """Which rows had at least one bit replaced, axis [batch]."""
        return self._touched

    def _layer(self, number: int, held: Held) -> Held:
        way, layer, book = self._routes[number], self._parts.layers[number], self._rows.book.layers[number]
        dirty = Held(way.dirty, self._stream(number, held, way.dirty))
        if self._acts(number, "residual"):
            dirty = Held(way.dirty, dirty.values.clone())  # what the layer before was seen to give stays as it was
            self._clean_untouched(dirty, book.stream, 0)
        for segment in self._segments:
            for act in segment.plan.layers[number].residual:
                self._apply(number, Kind.STREAM, act, segment, dirty)
        z = self._heads(number, layer, book, way, dirty)
        if way.attending and self._acts(number, "heads", "sent_by_heads"):
            self._clean_untouched(z, book.z, book.first)
        self._act_on_heads(number, z)
        written = self._write_heads(number, layer, way, z)
        mid = self._stream(number, dirty, way.heads) + written
        everywhere = self._spread(mid, way.heads, way.out, book.mid, book.first)
        block = f"blocks.{number}."
        self.seen |= {f"{block}hook_resid_pre": dirty, f"{block}attn.hook_z": z}
        out = Held(way.out, everywhere)
        if self._parts.config.has_mlp:
            mlp = self._mlp(number, layer, way, mid, everywhere)
            self.seen |= {f"{block}hook_resid_mid": out, f"{block}hook_mlp_out": mlp}
            out = Held(way.out, everywhere + mlp.values)
        self.seen[f"{block}hook_resid_post"] = out
        return out

    def _mlp(self, number: int, layer: LayerParts, way: LayerRoute, mid: Tensor, everywhere: Tensor) -> Held:
        book = self._rows.book.layers[number]
        thought = layer.think(layer.norm_mid(mid))
        mlp = Held(way.out, self._spread(thought, way.heads, way.out, book.mlp, book.first))
        self._think_anew(number, layer, everywhere, mlp)
        is_anew = bool(way.heads) or self._acts(number, "received_by_mlp")
        if is_anew and self._acts(number, "mlp", "sent_by_mlp"):
            self._clean_untouched(mlp, book.mlp, book.first)
        self._act_on_mlp(number, mlp)
        return mlp

    def _acts(self, number: int, *moments: str) -> bool:
        # Whether some row's edit does something at these moments of a layer, as `LayerPlan` names them.
        return any((number, moment) in self._moments for moment in moments)

    def _clean_untouched(self, held: Held, clean: Tensor, first: int) -> None:
        # Rows that nothing was replaced in so far are made clean to the bit: computed anew they differ in rounding,
        # and the clean value put in its place would pass for a change.
        untouched = ~self._touched
        if held.positions and bool(untouched.any()):
            positions = _index(held.positions, first, clean)
            held.values[untouched] = take(clean, self._rows.questions[untouched], positions)

    def _stream(self, number: int, held: Held, positions: Positions) -> Tensor:
        # The stream entering a layer: in hand where an earlier layer changed it, else that of the clean pass.
        book = self._rows.book
        is_last = number == len(book.layers)
        clean, first = (book.last, book.first_answer) if is_last else (book.layers[number].stream, 0)
        known = tuple(position for position in held.positions if position in positions)
        return self._spread(held.at(known), known, positions, clean, first)

    def _spread(self, values: Tensor, known: Positions, positions: Positions, clean: Tensor, first: int) -> Tensor:
        # Clean values at all positions, with those in hand put in their places.
        if not positions:
            return clean.new_zeros(len(self._rows.questions), 0, *clean.shape[2:])
        if known == positions:
            return values
        out = take(clean, self._rows.questions, _index(positions, first, clean))
        if known:
            out[:, [positions.index(position) for position in known]] = values
        return out

    def _heads(self, number: int, layer: LayerParts, book: LayerBook, way: LayerRoute, dirty: Held) -> Held:
        if not way.attending:
            return Held(way.heads, self._spread(book.z, (), way.heads, book.z, book.first))
        asking = tuple(position for position in dirty.positions if position in way.attending)
        read = Held(dirty.positions, layer.norm_in(dirty.values))
        end = max(way.attending) + 1  # no position in hand sees one after those
        k, v = (clean[:, :, :end].index_select(0, self._rows.questions) for clean in (book.k, book.v))
        k[:, :, list(dirty.positions)] = layer.keys(read.values).transpose(1, 2)
        v[:, :, list(dirty.positions)] = layer.values(read.values).transpose(1, 2)
        q = self._spread(layer.queries(read.at(asking)), asking, way.attending, book.q, book.first)
        mask = self._parts.mask[list(way.attending), :end]
        looked = layer.attend(q, k, v, mask)
        z = Held(way.heads, self._spread(looked, way.attending, way.heads, book.z, book.first).contiguous())
        for place, segment in enumerate(self._segments):
            for received in segment.plan.layers[number].received_by_heads:
                look = _Look(q[segment.rows, way.attending.index(received.position)], k[segment.rows], v[segment.rows])
                self.look_anew(number, layer, place, received, look, dirty, z)
        return z

    def _act_on_heads(self, number: int, z: Held) -> None:
        for segment in self._segments:
            for act in segment.plan.layers[number].heads:
                if not _in_the_stream(act):
                    self._apply(number, Kind.HEADS, act, segment, z)

    def _write_heads(self, number: int, layer: LayerParts, way: LayerRoute, z: Held) -> Tensor:
        written = layer.write(z.values)
        for place, segment in enumerate(self._segments):
            pushes: dict[tuple[int, int], Tensor] = {}
            for act in segment.plan.layers[number].heads:
                if _in_the_stream(act):
                    pushes |= self._pushes(number, layer, act, segment, z)
            for (position, _), push in pushes.items():
                written[segment.rows, way.heads.index(position)] += push
                self._touch(segment.rows, (push != 0).expand(segment.rows.stop - segment.rows.start, -1))
            for sent in segment.plan.layers[number].sent_by_heads:
                assert sent.head is not None
                extra = self._difference(number, Kind.HEADS, sent, place, z) @ layer.w_o[sent.head]
                self._send(sent, place, extra - pushes.get((sent.position, sent.head), 0.0))
        return written

    def _think_anew(self, number: int, layer: LayerParts, mid: Tensor, mlp: Held) -> None:
        book = self._rows.book.layers[number]
        for place, segment in enumerate(self._segments):
            for received in segment.plan.layers[number].received_by_mlp:
                at, edges = mlp.positions.index(received.position), received.inputs[Input.MLP]
                clean = book.mid[self._rows.questions[segment.rows], received.position - book.first]
                frozen = clean if self._is_frozen(place, edges) else None
                read = mid[segment.rows, at] + self._extra(place, edges, received.position)
                mlp.values[segment.rows, at] = layer.think(layer.norm_mid(read, frozen))

    def _act_on_mlp(self, number: int, mlp: Held) -> None:
        for place, segment in enumerate(self._segments):
            for act in segment.plan.layers[number].mlp:
                self._apply(number, Kind.MLP, act, segment, mlp)
            for sent in segment.plan.layers[number].sent_by_mlp:
                self._send(sent, place, self._difference(number, Kind.MLP, sent, place, mlp))

    def _apply(self, number: int, kind: Kind, act: Act, segment: Segment, held: Held) -> None:
        # Replace values of one segment in place.
        rows, change = segment.rows, act.change
        places = torch.tensor([held.positions.index(position) for position in act.positions])
        sites = (places,) if not act.heads else (places, torch.tensor(act.heads))
        part = held.values[rows]
        old = part[(slice(None), *sites)]
        if isinstance(change, Add):
            new = old + direction(change, old)
        elif isinstance(change, DifferencePatch):
            ends = ((Fill.SOURCE, slot) for slot in (change.source, change.less))
            there, here = (self._rows.foreign(end, number, kind, act, rows) for end in ends)
            new = old + (there - here)
        else:
            fill = self._rows.fill(change, number, kind, act, rows)
            if change.basis:
                new = old + change.share * ((fill - old) @ projector(change, old))
            else:
                new = fill.expand_as(old) if change.share == 1 else old + change.share * (fill - old)
        self._touch(rows, new != old)
        part[(slice(None), *sites)] = new

    def _pushes(
        self, number: int, layer: LayerParts, act: Act, segment: Segment, z: Held
    ) -> dict[tuple[int, int], Tensor]:
        # What changes that are stated in the stream's own space add to the writes of heads, by position and head.
        change, sites = act.change, list(zip(act.positions, act.heads, strict=True))
        if isinstance(change, Add):
            return dict.fromkeys(sites, direction(change, z.values)[None])
        assert isinstance(change, Replace)
        fill, within = self._rows.fill(change, number, Kind.HEADS, act, segment.rows), projector(change, z.values)
        own = [z.values[segment.rows, z.positions.index(position), head] for position, head in sites]
        return {
            site: change.share * ((fill[:, at] - own[at]) @ layer.w_o[site[1]]) @ within
            for at, site in enumerate(sites)
        }

    def _difference(self, number: int, kind: Kind, sent: Send, place: int, held: Held) -> Tensor:
        # What a sender holds for the source question less what it holds in this pass, axes [batch, ...].
        rows, edge = self._segments[place].rows, self._edge(place, sent.edge)
        if sent.position in held.positions:
            own = held.values[rows, held.positions.index(sent.position)]
        else:
            book = self._rows.book.layers[number]
            clean = book.z if kind is Kind.HEADS else book.mlp
            own = clean[self._rows.questions[rows], sent.position - book.first]
        act = Act(Replace((), Fill.SOURCE, edge.source), (sent.position,), () if sent.head is None else (sent.head,))
        other = self._rows.foreign((Fill.SOURCE, edge.source), number, kind, act, rows)[:, 0]
        return other - (own if sent.head is None else own[:, sent.head])

    def _send(self, sent: Send, place: int, difference: Tensor) -> None:
        extra = self._edge(place, sent.edge).share * difference
        self._touch(self._segments[place].rows, extra != 0)
        key = (place, sent.edge, sent.position)
        self._sent[key] = self._sent[key] + extra if key in self._sent else extra

    def _extra(self, place: int, edges: Sequence[int], position: int) -> Tensor:
        # What a receiver of these edges reads at a position besides the stream.
        sent = [self._sent[key] for edge in edges if (key := (place, edge, position)) in self._sent]
        return sum(sent, self._parts.mask.new_zeros(()))

    def _is_frozen(self, place: int, edges: Sequence[int]) -> bool:
        return self._edge(place, edges[0]).norm is Norm.FROZEN

    def _edge(self, place: int, number: int) -> Edge:
        edge = self._segments[place].plan.edit.changes[number]
        assert isinstance(edge, Edge)
        return edge

    def look_anew(
        self, number: int, layer: LayerParts, place: int, received: Receive, look: _Look, dirty: Held, z: Held
    ) -> None:
        """One head looks from one position with inputs of its own; a position's input is read through its own norm."""
        head, end, rows = received.head, received.position + 1, self._segments[place].rows
        assert head is not None
        q, k, v = look.q[:, head], look.k[:, head, :end].clone(), look.v[:, head, :end].clone()
        for way, edges in received.inputs.items():
            for position in sorted({at for segment, edge, at in self._sent if segment == place and edge in edges}):
                if position >= end or (way is Input.QUERY and position != received.position):
                    continue
                read = self._read_besides(number, layer, place, edges, position, dirty)
                if way is Input.QUERY:
                    q = layer.queries(read)[:, head]
                elif way is Input.KEY:
                    k[:, position] = layer.keys(read)[:, head]
                else:
                    v[:, position] = layer.values(read)[:, head]
        scores = torch.einsum("be,bpe->bp", q, k) / q.shape[-1] ** 0.5
        looked = torch.einsum("bp,bpe->be", scores.softmax(-1), v)
        z.values[rows, z.positions.index(received.position), head] = looked

    def _read_besides(
        self, number: int, layer: LayerParts, place: int, edges: Sequence[int], position: int, dirty: Held
    ) -> Tensor:
        rows = self._segments[place].rows
        clean = self._rows.book.layers[number].stream[self._rows.questions[rows], position]
        own = dirty.values[rows, dirty.positions.index(position)] if position in dirty.positions else clean
        frozen = clean if self._is_frozen(place, edges) else None
        return layer.norm_in(own + self._extra(place, edges, position), frozen)

    def _receive_logits(self, stream: Held, edited: Tensor) -> None:
        first, last = self._rows.book.first_answer, len(self._parts.layers)
        for place, segment in enumerate(self._segments):
            for received in segment.plan.layers[last].received_by_mlp:
                rows, at = segment.rows, stream.positions.index(received.position)
                clean = self._rows.book.last[self._rows.questions[rows], received.position - first]
                edges = received.inputs[Input.LOGITS]
                frozen = clean if self._is_frozen(place, edges) else None
                extra = self._extra(place, edges, received.position)
                edited[rows, at] = self._parts.logits(stream.values[rows, at] + extra, frozen)

    def _touch(self, rows: slice, differs: Tensor) -> None:
        self._touched[rows] |= differs.flatten(1).any(1)


@dataclass(frozen=True)
class _Look:
    # One position's queries [batch, head, d_head], and all keys and values [batch, head, pos, d_head].
    q: Tensor
    k: Tensor
    v: Tensor


def _in_the_stream(act: Act) -> bool:
    return isinstance(act.change, Add) or (isinstance(act.change, Replace) and bool(act.change.basis))


def _index(positions: Sequence[int], first: int, like: Tensor) -> Tensor:
    return torch.tensor(positions, device=like.device) - first
