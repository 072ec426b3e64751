"""Tensor pile: someone's tensors, taken one by one under their own names.

Takes  a state dict, and what to call it in an error.
Gives  each tensor once, with the number of axes that are called for.
Never  leaves a tensor over without saying so: it would belong to a part that we do not compute.
"""

from collections.abc import Iterator, Mapping

from torch import Tensor

from carrylens.errors import CarryLensError


class TensorPile:
    """The tensors that have not been taken yet."""

    def __init__(self, state: Mapping[str, Tensor], source: str) -> None:
        self._state, self.source = dict(state), source

    def __contains__(self, name: str) -> bool:
        return name in self._state

    def __iter__(self) -> Iterator[str]:
        return iter(self._state)

    def shape(self, name: str, n_axes: int) -> tuple[int, ...]:
        """The shape of a tensor, which stays."""
        if name not in self._state:
            raise CarryLensError(f"{self.source} lacks {name}. Give all weights of the model.")
        shape = tuple(self._state[name].shape)
        if len(shape) != n_axes or 0 in shape:
            raise CarryLensError(
                f"{self.source} has {name} with shape {list(shape)}, where {n_axes} axes are expected. "
                "Give the weights of a transformer."
            )
        return shape

    def take(self, name: str, n_axes: int) -> Tensor:
        """A tensor, which is then gone."""
        self.shape(name, n_axes)
        return self._state.pop(name)

    def finish(self, what: str) -> None:
        """Refuse what is left over."""
        if self._state:
            raise CarryLensError(
                f"{self.source} has {min(self._state)}, which is not a weight of {what}. "
                "Give a model without that part."
            )


def split_heads(width: int, n_heads: int | None, source: str) -> int:
    """The width of one of so many heads, which lie side by side in these weights."""
    if n_heads is None:
        raise CarryLensError(f"{source} does not show how many heads its {width} columns are. Give n_heads.")
    if type(n_heads) is not int or n_heads < 1 or width % n_heads:
        raise CarryLensError(
            f"{source} has {width} columns, which do not make {n_heads!r} heads. Give another n_heads."
        )
    return width // n_heads
