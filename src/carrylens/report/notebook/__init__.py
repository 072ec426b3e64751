"""Notebook displays: what a record looks like in a notebook, and as a table or a graph in memory.

Takes  the records of the rooms above, each by its own fields.
Gives  short HTML with its own style, rows for pandas, graphs as JSON and for networkx.
Never  computes, needs a script or a network, or lets text of a file into HTML unescaped.

Start reading at `html_parts.py`. A record's module has a line (`..._line`), HTML (`..._html`) and rows (`..._rows`).
"""
