"""A model's own answer is what it would write token by token."""

import torch

from carrylens.arithmetic import Operation, Population, PopulationKind, Questions, answers
from carrylens.arithmetic.decoding import decode_answers
from carrylens.arithmetic.model_shapes import config_of_width
from carrylens.arithmetic.task import arithmetic_task
from carrylens.arithmetic.tokens import decode, encode
from carrylens.model import Transformer
from carrylens.model.answer_pass import answer_logits


def test_decoding_agrees_with_writing_one_token_at_a_time_by_hand() -> None:
    model = Transformer(config_of_width(3, 2, 3, width=24, seed=1))
    questions = Population(PopulationKind.NATURAL, Operation.MIX, 3).draw(1, 0, 5)
    for row, given in enumerate(decode_answers(model, questions)):
        ids = encode(questions[slice(row, row + 1)])[0].tolist()
        for _ in range(5):
            with torch.no_grad():
                ids.append(int(model(torch.tensor([ids]))[0, -1].argmax()))
        assert given == decode(torch.tensor([ids[-5:]]).numpy())[0]


def test_every_token_right_when_taught_is_an_answer_right_when_alone() -> None:
    # The claim that lets failures be counted without decoding.
    model = Transformer(config_of_width(1, 1, 3, width=24, seed=3))
    questions = Population(PopulationKind.NATURAL, Operation.ADD, 1).draw(1, 0, 50)
    optimiser = torch.optim.AdamW(model.parameters(), lr=3e-3)
    tokens = torch.from_numpy(encode(questions, answers(questions)))
    for _ in range(60):
        logits = answer_logits(model, tokens)
        torch.nn.functional.cross_entropy(logits.flatten(0, 1), tokens[:, -3:].flatten()).backward()  # type: ignore[no-untyped-call]
        optimiser.step()
        optimiser.zero_grad()
    taught = (answer_logits(model, tokens).argmax(-1) == tokens[:, -3:]).all(1)
    alone = [
        given == true for given, true in zip(decode_answers(model, questions), answers(questions).text(), strict=True)
    ]
    assert taught.tolist() == alone
    assert 0 < sum(alone) < len(alone), "both outcomes are there"


def test_a_model_answers_a_question_in_words() -> None:
    model = Transformer(config_of_width(3, 1, 3, width=24, seed=1))
    model.task = arithmetic_task(Operation.MIX, 3)
    assert model.answer("45+7") == decode_answers(model, Questions.parse(["045+007"]))[0]
