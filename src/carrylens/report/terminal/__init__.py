"""Text for the terminal: tables and lines, drawn from what was already computed.

Takes  records, maps, judgements, outcomes.
Gives  text.
Never  measures.
"""
