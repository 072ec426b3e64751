"""Wiring checks: whether a description can work, and if it cannot, which role stands in the way and why.

Takes  a `CircuitDescription` of the left-to-right method.
Gives  its `Wiring`.
Never  lets an impossible description through.

What makes a role impossible:
1. It names a node the model does not have, or a variable its algorithm does not.
2. It needs something that stands or is computed at a later place: attention looks back only.
3. It reads what is computed in the same or a later layer.
4. Its nodes are not where they could hand on what they compute, or are busy with something else.
5. Some role that the answer needs is missing.
"""

from __future__ import annotations

from typing import NoReturn

from carrylens.arithmetic.algorithm_model import Algorithm
from carrylens.arithmetic.layout import equals_position, position_of, sequence_length
from carrylens.arithmetic.mixtures import G
from carrylens.arithmetic.planted.algorithm_of import BINARY, DIGITS, RESOLVED, model_of
from carrylens.arithmetic.planted.description import CircuitDescription, Method, PlantedRole
from carrylens.arithmetic.planted.hostile import KindDials, check_hostile
from carrylens.arithmetic.planted.hostile_algorithm import KEY, MN, MX, PARTS
from carrylens.arithmetic.planted.hostile_roles import WEIGHED_NAMES
from carrylens.arithmetic.planted.wiring import COLUMN, Lane, Wiring, extra_carriers, fetched
from carrylens.arithmetic.variables import D_PRIME, OPR, SGN
from carrylens.errors import CarryLensError
from carrylens.nodes import Node
from carrylens.tasks.variables import Variable


def wire(description: CircuitDescription) -> Wiring:
    """The wiring of a description, or an error that says why it cannot work."""
    model = model_of(description)
    check_nodes(description, model)
    check_order(description, model)
    if description.method is not Method.LEFT_TO_RIGHT:
        raise CarryLensError(f"A {description.method.value} circuit is not wired this way. Plant it by its own method.")
    wiring = Wiring(description, model)
    check_hostile(description.hostile, description.operation, description.digits, _kind_dials(wiring))
    for role in (*description.roles, *description.decoys):
        _check_place(role, wiring)
    _check_busy(wiring)
    for token in wiring.tokens:
        _check_token(token, wiring)
    return wiring


def _kind_dials(wiring: Wiring) -> KindDials:
    # What hostile dials may not go with, as far as the roles show it.
    roles = wiring.description.roles
    copied = any(len(wiring.description.of(role.variable)) > 1 for role in roles if role.variable.name in DIGITS)
    binary = any(role.variable.name in BINARY for role in roles)
    return KindDials(redundancy=copied, tail=wiring.resolver is not None, binary=binary)


def check_nodes(description: CircuitDescription, model: Algorithm) -> None:
    """Every variable and node is one that the algorithm and the model have."""
    for role in (*description.roles, *description.decoys):
        model.check(role.variable)
        for node in role.nodes:
            n_real = description.n_heads - description.noise
            if node.position >= sequence_length(description.digits) or node.layer >= description.n_layers:
                _refuse(
                    role,
                    f"a model with {description.n_layers} layers and {sequence_length(description.digits)} positions "
                    f"has no {node}",
                    "Name a node it has, or give it more layers.",
                )
            if node.head is not None and node.head >= n_real:
                _refuse(
                    role,
                    f"of {description.n_heads} heads {description.noise} make noise, so there is no {node}",
                    "Give the model more heads, or name another.",
                )


def check_order(description: CircuitDescription, model: Algorithm) -> None:
    """Nothing is needed before it is there: a transformer's attention only looks back."""
    needs = [(role, _needs(role.variable, model)) for role in description.roles]
    needs += [(role, tuple(model.inputs_of(role.variable))) for role in description.decoys]
    for role, parents in needs:
        for parent in parents:
            places = _places_of(parent, description, model)
            if places and min(places) > role.position:
                how = "stands" if parent in model.inputs or parent == role.variable else "is computed"
                _refuse(
                    role,
                    f"it needs {parent}, which {how} only at P{min(places)}, and attention looks back, never ahead",
                    f"Compute {role.variable} at P{min(places)} or later, or {parent} earlier.",
                )
    if description.method is Method.RIGHT_TO_LEFT:
        raise CarryLensError(
            "A right-to-left circuit cannot be planted: the answer's first digit needs its last carry."
        )


def _needs(variable: Variable, model: Algorithm) -> tuple[Variable, ...]:
    # A resolved carry is made of what the columns say, in whatever order; an input is needed by those who hand it on.
    if variable.name in RESOLVED:
        return tuple(above for above in model.ancestors(variable) if above.name in COLUMN)
    mechanism = model.by_variable.get(variable)
    return mechanism.parents if mechanism else (variable,)


def _places_of(variable: Variable, description: CircuitDescription, model: Algorithm) -> list[int]:
    if variable in model.inputs:
        return [position_of(variable, description.digits)]
    if variable == SGN:  # the token itself, once it is written
        return [position_of(SGN, description.digits)] if description.n_layers else []
    return [role.position for role in description.of(variable)]


def _check_place(role: PlantedRole, wiring: Wiring) -> None:
    if len({node.position for node in role.nodes}) > 1:
        _refuse(role, "its nodes are at different places", "Write one role for each place.")
    name, digit = role.variable.name, role.variable.index or 0
    if wiring.description.hostile.spread and name == "ST" and role not in wiring.description.decoys:
        _check_gathered(role, wiring)
    elif name in (*DIGITS, *COLUMN, *PARTS):
        latest = position_of(D_PRIME[digit], wiring.digits)
        if role.position < latest:
            _refuse(
                role,
                f"it needs D'[{digit}], which stands at P{latest}, and attention looks back, never ahead",
                f"Compute {role.variable} at P{latest} or later.",
            )
        sorts = name in COLUMN and wiring.resolver and role not in wiring.description.decoys
        wanted = 2 if sorts else 1
        direct = (
            name == "SA"
            and wiring.model.operation.value == "add"
            and len(wiring.description.of(role.variable)) == 1
            and not wiring.description.hostile
        )
        if not 1 <= len(role.heads) <= 2 or (len(role.mlps) != wanted and not (direct and not role.mlps)):
            _refuse(
                role,
                f"a column is fetched by one head, or two that share the work, and worked out by {wanted} MLP",
                f"Write it as {role.variable} at P{role.position}L0H0"
                + "".join(f" + P{role.position}L{layer}MLP" for layer in range(wanted)),
            )
        if role.mlps and max(head.layer for head in role.heads) > role.mlps[0].layer:
            _refuse(role, "its MLP comes before its head", "Name an MLP of the head's layer or a later one.")


def _check_gathered(role: PlantedRole, wiring: Wiring) -> None:
    # Under `spread` one head for each part brings it to where the column's value is read.
    parts = wiring.model.by_variable[role.variable].parents
    if role.mlps or len(role.heads) != len(parts):
        _refuse(role, f"{len(parts)} heads gather its parts, and no MLP", "Name as many heads of one place.")
    for part, head in zip(parts, role.heads, strict=True):
        copies = wiring.description.of(part)
        if len(copies) != 1:
            _missing(role.variable, f"it needs {part} once", f"{part} at P{role.position}L0H0 + P{role.position}L0MLP")
        if copies[0].position > role.position or copies[0].mlps[-1].layer >= head.layer:
            _refuse(role, f"{head} cannot see {copies[0]}", "Gather it at a later place and layer.")


def _check_busy(wiring: Wiring) -> None:
    # A head does one thing at one place: it fetches one column, one token, or one carry.
    jobs: dict[Node, tuple[str, PlantedRole]] = {}
    for role in (*wiring.description.roles, *wiring.description.decoys):
        for head in role.heads:
            job = _job(role, wiring)
            other_job, other = jobs.setdefault(head, (job, role))
            if other_job != job:
                _refuse(role, f"{head} already has a job there: {other}", "Name another head.")
    held: dict[tuple[str, int, int], PlantedRole] = {}
    for letter, columns in wiring.columns.items():
        for k in columns:
            for lane, roles in enumerate(wiring.lanes(letter, k)):
                for name, role in roles.items():
                    other = held.setdefault((name, lane, role.position), role)
                    if other is not role:
                        _refuse(
                            role,
                            f"P{role.position} already holds {other.variable}, and a place holds one column",
                            "Move one of them, or turn the delay down.",
                        )


def _job(role: PlantedRole, wiring: Wiring) -> str:
    if role.variable.name in (*DIGITS, *COLUMN, *PARTS):
        return f"column {role.variable.index} with {' '.join(map(str, role.heads))}"
    if role.variable.name in WEIGHED_NAMES:
        return f"weighs column {role.variable.index} and all below"
    if role is not wiring.resolver and role.variable.name in RESOLVED and role.mlps:
        return str(wiring.resolver.variable if wiring.resolver else role.variable)
    return str(role.variable)


def _check_token(token: Variable, wiring: Wiring) -> None:
    place, combiner = wiring.tokens[token], wiring.combiner(token)
    if combiner is None:
        _missing(token, f"no MLP at P{place} makes it", f"{token} at P{place}L{wiring.description.n_layers - 1}MLP")
    for variable in wiring.parents(token, DIGITS):
        copies = wiring.description.of(variable)
        if not copies:
            _missing(token, f"it needs {variable}", f"{variable} at P{place}L0H0 + P{place}L0MLP")
        for role in copies:
            if role.position != place:
                _refuse(role, f"only P{place} reads it, and nothing brings it there", f"Compute it at P{place}.")
            _check_before(role, max(role.nodes, key=_depth), combiner, token)
    for variable in (OPR, SGN):
        if variable in wiring.model.by_variable[token].parents:
            head = wiring.selector(token, variable)
            if head is None:
                _missing(token, f"it needs {variable}", f"{variable} at P{place}L0H1")
            _check_before(PlantedRole(variable, frozenset({head})), head, combiner, token)
    for resolved in wiring.parents(token, RESOLVED):
        _check_carry(token, resolved, combiner, wiring)
    _check_routes(token, combiner, wiring)


def _check_routes(token: Variable, combiner: Node, wiring: Wiring) -> None:
    # What other routes need is fetched and worked out where the token is predicted, before it is made.
    place, parents = wiring.tokens[token], wiring.model.by_variable[token].parents
    wanted = [parent for parent in parents if parent.name in (*WEIGHED_NAMES, G.name)]
    wanted += [MX.variable, MN.variable] if KEY.variable in parents else []
    for variable in wanted:
        roles = fetched(wiring, token, variable)
        most = 2 if variable.name in WEIGHED_NAMES else 1
        if not roles or any(not 1 <= len(role.heads) <= most or len(role.mlps) != 1 for role in roles):
            _missing(token, f"it needs {variable}", f"{variable} at P{place}L0H1 + P{place}L0MLP")
        for role in roles:
            _check_before(role, role.mlps[0], combiner, token)
    n_extra = 2 * wiring.description.hostile.cancel + wiring.description.hostile.backup
    for resolved in wiring.parents(token, RESOLVED):
        carriers, extra = wiring.carriers(token, resolved), extra_carriers(wiring, token, resolved)
        if len(extra) != n_extra:
            _missing(resolved, f"{len(extra)} more heads bring it to P{place}, not {n_extra}", f"{carriers[0]}")
        for name, role in extra.items():
            if (role.heads[0].layer > carriers[0].heads[0].layer) != (name == "backup"):
                _refuse(role, "a backup is in a later layer, and no other head is", "Name a head of that layer.")
            _check_before(role, role.heads[0], combiner, token)


def _check_carry(token: Variable, resolved: Variable, combiner: Node, wiring: Wiring) -> None:
    place, letter = wiring.tokens[token], resolved.name[0]
    carriers = wiring.carriers(token, resolved)
    if not carriers:
        _missing(token, f"it needs {resolved} at P{place}", f"{resolved} at P{place}L{combiner.layer}H0")
    for k in range((resolved.index or 0) + 1):
        lanes = wiring.lanes(letter, k)
        if len(lanes) != len(carriers):
            names = " and ".join(map(str, wiring.column_variables(letter, k)))
            _missing(
                resolved,
                f"{len(carriers)} heads bring it to P{place}, but {len(lanes)} copies of {names} are computed",
                f"as many roles of {names} as of {resolved} at P{place}",
            )
        for lane, carrier in zip(lanes, carriers, strict=True):
            _check_lane(lane, carrier, wiring)
    for carrier in carriers:
        _check_before(carrier, carrier.heads[0], combiner, token)


def _check_lane(lane: Lane, carrier: PlantedRole, wiring: Wiring) -> None:
    if len({role.position for role in lane.values()}) > 1:
        _refuse(next(iter(lane.values())), "its other half is elsewhere", "Put both at one place.")
    resolver = wiring.resolver
    for role in lane.values():
        reader = resolver.heads[0] if resolver else carrier.heads[0]
        if role.position > reader.position:
            _refuse(
                carrier,
                f"it needs {role.variable}, which is computed only at P{role.position}, and attention looks back",
                f"Compute {role.variable} at P{reader.position} or earlier.",
            )
        layer = max(node.layer for node in role.nodes)
        if layer >= reader.layer:
            _refuse(
                carrier,
                f"it reads {role}, which is not there before layer {layer + 1}",
                "Use a later layer.",
            )
    if resolver and (resolver.position > carrier.position or resolver.mlps[-1].layer >= carrier.heads[0].layer):
        _refuse(carrier, f"the carries are resolved only at {resolver.mlps[-1]}", "Bring them from a later layer.")
    if resolver and resolver.position < equals_position(wiring.digits) - 1:
        _refuse(resolver, "the last column is not known there", f"Resolve at P{equals_position(wiring.digits)}.")


def _check_before(role: PlantedRole, node: Node, combiner: Node, token: Variable) -> None:
    if node.layer > combiner.layer or (node.is_mlp and node.layer == combiner.layer):
        _refuse(role, f"{token} is made at {combiner}, before it is there", f"Make {token} in a later layer.")


def _depth(node: Node) -> tuple[int, bool]:
    return (node.layer, node.is_mlp)


def _refuse(role: PlantedRole, reason: str, advice: str) -> NoReturn:
    raise CarryLensError(f"{role} cannot work: {reason}. {advice}")


def _missing(variable: Variable, reason: str, role: str) -> NoReturn:
    raise CarryLensError(f"{variable} cannot be made: {reason}. Add a role such as {role}.")
