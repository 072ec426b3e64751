"""Singular values of a matrix, also where the fast routine gives up.

Takes  any finite matrix.
Gives  its thin decomposition, as `numpy.linalg.svd` gives it.
Never  gives up on a matrix because the fast routine does.
"""

from __future__ import annotations

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

Matrix = NDArray[np.float64]


def singular_values(matrix: Matrix) -> tuple[Matrix, Matrix, Matrix]:
    """Left vectors as columns, sizes from largest to smallest, right vectors as rows.

    LAPACK's divide and conquer can fail to converge on a finite matrix whose rank is far below its width; the older
    method, ten times slower, does not.
    """
    try:
        left, sizes, right = np.linalg.svd(matrix, full_matrices=False)
    except np.linalg.LinAlgError:
        left, sizes, right = scipy.linalg.svd(matrix, full_matrices=False, lapack_driver="gesvd")
    return np.asarray(left), np.asarray(sizes), np.asarray(right)
