"""The zoo: models by name, whether shipped, in a folder, or on the Hub.

Takes  a name.
Gives  the model, and what is known about it.
Never  trains.
"""

from carrylens.arithmetic.zoo.shipped import find_model, load, shipped_names

__all__ = ["find_model", "load", "shipped_names"]
