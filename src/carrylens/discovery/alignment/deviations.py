"""Deviations, by the name they had here: `discovery/deviations.py` holds them, as roles have deviations, too.

Takes  nothing.
Gives  `Deviation` and `find_deviation`.
Never  adds to them.
"""

from carrylens.discovery.deviations import Deviation, find_deviation

__all__ = ["Deviation", "find_deviation"]
