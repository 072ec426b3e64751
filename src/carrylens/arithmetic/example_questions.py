"""Example questions: those that show an algorithm at work.

Takes  an operation and a number of digits.
Gives  one question for each operation in which a carry or borrow from the units travels through every column.
Never  answers one.
"""

from carrylens.arithmetic.questions import Operation


def example_questions(operation: Operation, digits: int) -> list[str]:
    """One question for each operation in which a carry or borrow from the units travels through every column.

    >>> example_questions(Operation.MIX, 4)
    ['5555+4448', '5555-1558']
    """
    adding = f"{'5' * digits}+{'4' * (digits - 1)}8"
    first = "1" if digits > 1 else ""  # 5 over 1 keeps the answer positive
    subtracting = f"{'5' * digits}-{first}{'5' * max(0, digits - 2)}8"
    return {Operation.ADD: [adding], Operation.SUB: [subtracting], Operation.MIX: [adding, subtracting]}[operation]
