"""Training: from a plan to a model that does its task, and how often it is wrong.

Takes  a task, a recipe, a folder.
Gives  the trained model with its losses, and its test on as many questions as are wanted.
Never  analyses what the model does inside, or knows what its task is.

Start reading at `plan.py`, then `run.py` and `exam.py`.
"""
