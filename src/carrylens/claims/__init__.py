"""Claims: what a hypothesis says about a network, sentence by sentence, and what the measurements say of each.

Takes  a causal model, where its variables may stand, and a node map.
Gives  the claims that follow from the hypothesis, a verdict on each, and one on the model.
Never  measures, knows arithmetic, or imports PyTorch: saved maps are judged again without a model.

Start reading at `hypothesis.py`, then `structure.py`, `claims.py`, `rules.py` and `judgement.py`.
"""
