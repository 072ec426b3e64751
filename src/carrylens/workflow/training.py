"""Training: a model from its name, in a folder that is in the state the caller thinks it is in.

Takes  a name, a recipe, a model to insert.
Gives  the plan, and the run once it is done or stopped.
Never  chooses a rate: `arithmetic/recipes.py` does.
"""
