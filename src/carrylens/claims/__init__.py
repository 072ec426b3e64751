"""The hypothesis: which algorithm a model runs, stated once, and judged on what was measured.

Takes  a causal model, where its values may live, and a node map.
Gives  claims that follow from them, a verdict for each, and one for the model.
Never  measures, and never imports PyTorch: saved maps are judged again without a model.
"""
