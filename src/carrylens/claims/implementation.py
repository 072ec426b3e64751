"""Implementation claims: what a paper says of how a model is built inside, counted apart from the verdict.

Takes  a verdict for each claim.
Gives  `ImplementationCount`: how many of those that could be tested hold, and each with its verdict.
Never  bears on whether a model runs the algorithm: it may run it in another way than the paper's models do.
"""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct

from carrylens.claims.verdicts import Verdict


class ImplementationClaim(Struct, frozen=True):
    """One claim, the experiment that tests it, and its verdict."""

    experiment: str
    claim: str
    verdict: Verdict


class ImplementationCount(Struct, frozen=True):
    """How many claims hold, how many surely do not, and how many could be tested at all."""

    holds: int
    fails: int
    testable: int
    claims: tuple[ImplementationClaim, ...]

    @classmethod
    def of(cls, claims: Iterable[ImplementationClaim]) -> ImplementationCount:
        """The count of these claims.

        >>> said = [Verdict.SUPPORTED, Verdict.REFUTED, Verdict.INCONCLUSIVE, Verdict.UNTESTED]
        >>> count = ImplementationCount.of(ImplementationClaim("paths", "redundant heads", each) for each in said)
        >>> print(count)
        of the paper's 3 testable claims about the implementation 1 holds, 1 does not, 1 is open
        """
        listed = tuple(claims)
        verdicts = [each.verdict for each in listed]
        return cls(
            holds=verdicts.count(Verdict.SUPPORTED),
            fails=verdicts.count(Verdict.REFUTED),
            testable=sum(each is not Verdict.UNTESTED for each in verdicts),
            claims=listed,
        )

    def __str__(self) -> str:
        left = self.testable - self.holds - self.fails
        parts = [f"{self.holds} hold{'s' * (self.holds == 1)}", f"{self.fails} do{'es' * (self.fails == 1)} not"]
        parts += [f"{left} {'is' if left == 1 else 'are'} open"] * bool(left)
        return f"of the paper's {self.testable} testable claims about the implementation {', '.join(parts)}"
