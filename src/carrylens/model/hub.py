"""Hub: fetching a repository from the Hugging Face Hub.

Takes  `hf:owner/repo` and the names of the files that matter.
Gives  a local folder that holds them; what was fetched once is found again without a network.
Never  opens what it fetched.
"""

import importlib
import re
from collections.abc import Callable, Sequence
from pathlib import Path

from carrylens.errors import CarryLensError

HUB = "hf:"

Download = Callable[[str, Sequence[str]], str | Path]


def fetch_repo(source: str, names: Sequence[str], download: Download) -> Path:
    """The folder in which `download(repo, names)` put the files of the repository."""
    repo = source.removeprefix(HUB)
    if not re.fullmatch(r"[\w.-]+/[\w.-]+", repo):
        raise CarryLensError(
            f"{source!r} does not name a repository. Write hf:owner/name, such as {HUB}PhilipQuirke/QuantaMaths."
        )
    try:
        return Path(download(repo, names))
    except CarryLensError:
        raise
    except Exception as error:  # whatever the network, the server or the library says, it is the fetching that failed
        reason = (str(error).strip() or type(error).__name__).splitlines()[0]
        raise CarryLensError(
            f"{repo} could not be fetched from the Hugging Face Hub ({reason}). "
            "Check its name and your network, or give a folder with its files."
        ) from error


def download_snapshot(repo: str, names: Sequence[str]) -> str:
    """The folder in the Hub library's own store that holds these files of the repository."""
    try:
        hub = importlib.import_module("huggingface_hub")
    except ImportError as error:
        raise CarryLensError("Fetching from the Hub needs huggingface_hub. Run: pip install huggingface_hub") from error
    return str(hub.snapshot_download(repo, allow_patterns=list(names)))
