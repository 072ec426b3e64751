"""What the tests of planted models share."""

import pytest
import torch


@pytest.fixture(autouse=True, scope="session")
def one_thread() -> None:
    """Models this small are slowed by threads that wait for each other."""
    torch.set_num_threads(1)
