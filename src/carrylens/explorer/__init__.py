"""Explorer: one HTML file that runs a model, so that a reader can ask, watch, ablate and interchange.

Takes  a model with its task, and what was saved about it.
Gives  the text of a page that needs nothing but itself: weights, causal model, questions and evidence are in it.
Never  measures what a map measures, and never lets a text of a model become code.

Start reading at `page_data.py`, which lists the parts; `assets/engine/` has what computes, `assets/view/` what is seen.
"""
