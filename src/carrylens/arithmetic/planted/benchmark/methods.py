"""Methods: the general ones, and the paper's own search with the families that it has tests for.

Takes  nothing.
Gives  the registry of methods that arithmetic is benchmarked with.
Never  runs one.
"""

from __future__ import annotations

from carrylens.benchmark.baselines.published_search import PublishedSearch
from carrylens.benchmark.method_interface import DiscoveryMethod
from carrylens.benchmark.method_registry import GENERAL_METHODS

search_as_published = PublishedSearch(
    own_output=("SA", "MD", "ND"), any_output=("ST", "MB", "NB", "SC", "S9", "MC", "NC")
)
"""The paper's search: a column's own digit must change its answer digit, a column's carry any part of the answer."""

ARITHMETIC_METHODS = (
    *GENERAL_METHODS,
    DiscoveryMethod(
        "published", search_as_published, True, "the paper's search: mean ablation, attention, any changed answer"
    ),
)
"""Every method, the paper's among them."""
