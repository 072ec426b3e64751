"""The decomposition is the same by either routine."""

import numpy as np
import pytest

from carrylens.discovery.singular_values import singular_values


def test_a_matrix_on_which_the_fast_routine_gives_up_is_decomposed(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    matrix = rng.normal(size=(60, 5)) @ rng.normal(size=(5, 12))
    fast = singular_values(matrix)

    def gives_up(*_: object, **__: object) -> None:
        raise np.linalg.LinAlgError("SVD did not converge")

    monkeypatch.setattr(np.linalg, "svd", gives_up)
    left, sizes, right = singular_values(matrix)
    assert left.shape == (60, 12)
    assert np.allclose(sizes, fast[1], atol=1e-9)
    assert np.allclose((left * sizes) @ right, matrix)
