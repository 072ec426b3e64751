"""Report: what people look at, drawn from what was already computed.

Takes  traces, and later saved facts and claims.
Gives  text for a terminal, SVG pictures, tables.
Never  computes.
"""
