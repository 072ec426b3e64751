"""Evidence: what outcomes say, with how sure they say it.

Takes  counts of outcomes.
Gives  rates with exact intervals, comparisons with a matched null, corrections for being many, and facts to keep.
Never  runs a model, and never gives an estimate without its null.
"""

from carrylens.evidence.corrections import benjamini_yekutieli, holm
from carrylens.evidence.facts import Fact, read_facts, write_facts
from carrylens.evidence.rates import Rate, p_above

__all__ = ["Fact", "Rate", "benjamini_yekutieli", "holm", "p_above", "read_facts", "write_facts"]
