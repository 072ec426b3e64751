"""Hooks: how a forward pass lets others read and replace what flows through it.

Takes  hook functions and the names, or filters on names, of the points they are for.
Gives  `Tap`, an argument of one forward pass, and `Cache`, what a pass was seen to hold.
Never  stores anything on a model: when the pass is over, or has failed, no hook is left.

Names, meanings and axes are those of TransformerLens 2.x.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Protocol

from jaxtyping import Float
from torch import Tensor

from carrylens.errors import CarryLensError

# In the order in which a pass reaches them.
_FIRST_POINTS = ("hook_embed", "hook_pos_embed")
_BLOCK_POINTS = (
    "hook_resid_pre",
    "ln1.hook_scale",
    "ln1.hook_normalized",
    "attn.hook_q",
    "attn.hook_k",
    "attn.hook_v",
    "attn.hook_attn_scores",
    "attn.hook_pattern",
    "attn.hook_z",
    "attn.hook_result",
    "hook_attn_out",
    "hook_resid_mid",
    "ln2.hook_scale",
    "ln2.hook_normalized",
    "mlp.hook_pre",
    "mlp.hook_post",
    "hook_mlp_out",
    "hook_resid_post",
)
_LAST_POINTS = ("ln_final.hook_scale", "ln_final.hook_normalized")
_MLP_POINTS = ("hook_resid_mid", "ln2.", "mlp.", "hook_mlp_out")

# Each head's own output: head times as large as the rest, so it is computed only for those who ask.
ON_DEMAND = ".attn.hook_result"


@dataclass(frozen=True)
class HookPoint:
    """The place a hook function is called from.

    >>> HookPoint("blocks.1.attn.hook_z").layer()
    1
    """

    name: str

    def layer(self) -> int:
        """The layer of a point inside a block."""
        parts = self.name.split(".")
        if parts[0] != "blocks":
            raise CarryLensError(f"{self.name} is not in a layer. Give only points whose names begin with blocks.")
        return int(parts[1])


class HookFunction(Protocol):
    """What is called at a point: it may give back a tensor of the same shape, to be used from there on."""

    def __call__(self, activation: Float[Tensor, "..."], /, hook: HookPoint) -> Float[Tensor, "..."] | None:
        """The replacement, or None to leave things as they are; `hook` is given by name."""
        ...


NamesFilter = str | Sequence[str] | Callable[[str], bool] | None


def hook_names(n_layers: int, has_mlp: bool = True, has_norm: bool = True) -> tuple[str, ...]:
    """The name of every point of a model with `n_layers`, in the order in which a pass reaches them.

    >>> hook_names(1)[:3]
    ('hook_embed', 'hook_pos_embed', 'blocks.0.hook_resid_pre')
    """
    points = [point for point in _BLOCK_POINTS if has_mlp or not point.startswith(_MLP_POINTS)]
    inside = tuple(f"blocks.{layer}.{point}" for layer in range(n_layers) for point in points)
    return tuple(name for name in _FIRST_POINTS + inside + _LAST_POINTS if has_norm or not _is_of_norm(name))


@dataclass(frozen=True)
class Tap:
    """The hooks of one forward pass, seen from one part of the model."""

    hooks: Mapping[str, Sequence[HookFunction]] = field(default_factory=dict)
    prefix: str = ""

    @property
    def watched(self) -> bool:
        """Whether anyone watches this pass at all."""
        return bool(self.hooks)

    def inside(self, part: str) -> "Tap":
        """The same hooks, seen from inside `part`."""
        return Tap(self.hooks, f"{self.prefix}{part}.") if self.hooks else self

    def wants(self, point: str) -> bool:
        """Whether some hook is at `point` of this part."""
        return self.prefix + point in self.hooks

    def __call__(self, point: str, activation: Tensor) -> Tensor:
        """The activation at `point`, or what the hooks there put in its place."""
        if not self.hooks:
            return activation
        place = HookPoint(self.prefix + point)
        for function in self.hooks.get(place.name, ()):
            replacement = function(activation, hook=place)
            if replacement is not None:
                activation = _checked(replacement, activation, place)
        return activation


UNWATCHED = Tap()


class Cache(Mapping[str, Tensor]):
    """The activations of one pass by name, or by the short form `cache["pattern", 0]`, `cache["scale", 0, "ln1"]`.

    Layer -1 is the last one.
    """

    def __init__(self, activations: Mapping[str, Tensor]) -> None:
        self._activations = activations

    def __getitem__(self, name: str | tuple[str, int] | tuple[str, int, str]) -> Tensor:
        if not isinstance(name, str):
            point, layer, *part = name
            name = _full_name(point, layer if layer >= 0 else layer + self._n_layers(), *part)
        return self._activations[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._activations)

    def __len__(self) -> int:
        return len(self._activations)

    def __repr__(self) -> str:
        names = list(self._activations)
        return f"<Cache of {len(names)} activations: {', '.join(names[:3])}{', ...' if len(names) > 3 else ''}>"

    def _n_layers(self) -> int:
        layers = [HookPoint(name).layer() for name in self._activations if name.startswith("blocks.")]
        return 1 + max(layers, default=-1)


def select_names(names_filter: NamesFilter, names: Sequence[str]) -> list[str]:
    """Those of `names` that a filter picks; one that picks nothing, or names what is not there, is an error.

    No filter picks everything but the points that are computed on demand.

    >>> select_names(lambda name: name.endswith("hook_z"), hook_names(2))
    ['blocks.0.attn.hook_z', 'blocks.1.attn.hook_z']
    """
    if names_filter is None:
        return [name for name in names if not name.endswith(ON_DEMAND)]
    if callable(names_filter):
        picked = [name for name in names if names_filter(name)]
        if not picked:
            raise CarryLensError(f"The filter on hook names picks none of {len(names)}. See model.hook_names for them.")
        return picked
    wanted = [names_filter] if isinstance(names_filter, str) else list(names_filter)
    for name in wanted:
        if name not in names:
            raise CarryLensError(
                f"{name!r} is not a hook name of this model. Write one such as {_nearest(name, names)}."
            )
    return wanted


def gather_hooks(
    fwd_hooks: Iterable[tuple[NamesFilter, HookFunction]], names: Sequence[str]
) -> dict[str, list[HookFunction]]:
    """The hook functions at each name, in the order they were given."""
    gathered: dict[str, list[HookFunction]] = {}
    for names_filter, function in fwd_hooks:
        for name in select_names(names_filter, names):
            gathered.setdefault(name, []).append(function)
    return gathered


def _checked(replacement: Tensor, activation: Tensor, place: HookPoint) -> Tensor:
    # A tensor of another shape might broadcast, and compute something else than was meant.
    given = list(replacement.shape) if isinstance(replacement, Tensor) else type(replacement).__name__
    if given != list(activation.shape):
        raise CarryLensError(
            f"The hook at {place.name} gave back {given} in place of {list(activation.shape)}. "
            "Give back a tensor of the same shape, or None."
        )
    return replacement


def _full_name(point: str, layer: int, part: str | None = None) -> str:
    if part is not None:
        return f"blocks.{layer}.{part}.hook_{point}"
    for known in _BLOCK_POINTS:
        if known.endswith(f"hook_{point}") and not known.startswith("ln"):
            return f"blocks.{layer}.{known}"
    raise KeyError((point, layer))


def _is_of_norm(name: str) -> bool:
    return name.endswith(("hook_scale", "hook_normalized"))


def _nearest(name: str, names: Sequence[str]) -> str:
    return get_close_matches(name, names, n=1, cutoff=0.0)[0]
