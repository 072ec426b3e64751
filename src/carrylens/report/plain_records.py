"""Plain records: what was saved, as JSON has it, before it is drawn.

Takes  nothing.
Gives  `Record`, the one name for such data in this room.
Never  says what is in one.
"""

from collections.abc import Mapping
from typing import Any

Record = Mapping[str, Any]
"""A JSON object that was read or computed."""
