"""Figures for print: counterparts of the paper's, each as SVG and PDF in one style.

Takes  saved maps and histories, traces, and points that were computed from a model.
Gives  matplotlib figures, readable at the width of a page, told apart without colour.
Never  shows an effect without its null.
"""
