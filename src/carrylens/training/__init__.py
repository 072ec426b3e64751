"""Training: from a name to a model that adds and subtracts, and how often it is wrong.

Takes  a model's name, a recipe, a folder.
Gives  the trained model with its losses, and its test on millions of questions.
Never  analyses what the model does inside.
"""
