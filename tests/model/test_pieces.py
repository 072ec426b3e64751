"""Work in pieces gives what work on everything at once gives."""

import threading
import time
from functools import partial

import pytest
import torch

from carrylens.arithmetic.model_shapes import config_of_width
from carrylens.model import Transformer
from carrylens.model.answer_pass import answer_logits
from carrylens.model.pieces import in_pieces, one_by_one


@pytest.fixture
def two_threads() -> object:
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    yield
    torch.set_num_threads(before)


@pytest.mark.usefixtures("two_threads")
def test_pieces_give_the_logits_of_the_whole_in_order() -> None:
    model = Transformer(config_of_width(3, 2, 3, width=24, seed=5)).double()
    tokens = torch.randint(0, 10, (150, model.config.n_ctx), generator=torch.Generator().manual_seed(1))
    whole = answer_logits(model, tokens)
    pieces = in_pieces(partial(answer_logits, model), tokens, rows=7)
    torch.testing.assert_close(pieces, whole.detach(), rtol=0, atol=1e-12)
    assert not pieces.requires_grad
    torch.testing.assert_close(one_by_one(partial(answer_logits, model), tokens, rows=7), pieces, rtol=0, atol=1e-12)
    torch.set_num_threads(1)
    assert torch.equal(in_pieces(partial(answer_logits, model), tokens, rows=7), pieces), "to the bit"


@pytest.mark.usefixtures("two_threads")
def test_the_order_does_not_depend_on_who_is_done_first() -> None:
    def slow_at_first(piece: torch.Tensor) -> torch.Tensor:
        time.sleep(0.05 if int(piece[0]) == 0 else 0)
        return piece

    assert torch.equal(in_pieces(slow_at_first, torch.arange(10), rows=2), torch.arange(10))


@pytest.mark.usefixtures("two_threads")
def test_each_thread_works_alone_and_as_many_are_left_as_there_were() -> None:
    seen: dict[str, int] = {}
    both = threading.Barrier(2, timeout=10)

    def look(piece: torch.Tensor) -> torch.Tensor:
        both.wait()  # two pieces are under way at once, or this fails
        seen[threading.current_thread().name] = torch.get_num_threads()
        return piece

    in_pieces(look, torch.arange(4), rows=2)
    assert list(seen.values()) == [1, 1]
    assert torch.get_num_threads() == 2


def test_an_error_in_a_piece_is_heard() -> None:
    def fail(_piece: torch.Tensor) -> torch.Tensor:
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        in_pieces(fail, torch.arange(4), rows=2)
