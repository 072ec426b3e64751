"""First guesses of a placement, from when a value is computable and when it is read.

Takes  what is aligned.
Gives  some placements to start a search from; where a target may stand at all.
Never  interchanges anything.

- An output is written by the last MLP where it is read, or by the last heads where there is no MLP.
- What is made from inputs directly stands in layer 0 where its last input arrives; what one output alone reads may
  also stand where that output is read.
- Anything else stands in the heads after layer 0, where its output is read.
"""

from __future__ import annotations

from collections.abc import Iterator

from carrylens.discovery.alignment.targets import AlignmentTarget
from carrylens.discovery.alignment.trial import AlignmentTask, NodePlacement
from carrylens.nodes import Node
from carrylens.tasks.timeline import first_computable


def first_placements(about: AlignmentTask) -> Iterator[NodePlacement]:
    """What one output alone reads, where that is read; the same where its last input arrives."""
    for at_output in (True, False):
        held = dict[Node, tuple[int, ...]]()
        for node in about.nodes:
            found = tuple(
                place
                for place, target in enumerate(about.targets)
                if not target.optional and _is_at(about, target, node, at_output=at_output)
            )
            apart = len(found) < 2 or about.finder.of(node, found) is not None
            held[node] = found if apart else found[:1]
        yield NodePlacement(held)


def may_hold(about: AlignmentTask, target: AlignmentTarget, node: Node) -> bool:
    """Whether a node stands where the target is known, and is still read."""
    first = max(first_computable(about.causal, about.task.layout, each) for each in target.variables)
    last = max(about.task.layout.read_position(output) for output in target.outputs)
    return first <= node.position <= last


def _is_at(about: AlignmentTask, target: AlignmentTarget, node: Node, *, at_output: bool) -> bool:
    causal, layout, last = about.causal, about.task.layout, about.model.config.n_layers - 1
    read = layout.read_position(target.outputs[0])
    if target.variables[0] in causal.outputs:
        return node.position == read and node.layer == last and node.is_mlp is about.model.config.has_mlp
    from_inputs = all(
        parent in causal.inputs for each in target.variables for parent in causal.by_variable[each].parents
    )
    alone = len(target.outputs) == 1
    if not from_inputs:
        return alone and node.position == read and node.layer == last and not node.is_mlp
    own = alone and bool(set(target.variables) & set(causal.by_variable[target.outputs[0]].parents))
    arrives = max(first_computable(causal, layout, each) for each in target.variables)
    return node.layer == 0 and node.position == (read if own and at_output else arrives)
