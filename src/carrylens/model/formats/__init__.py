"""Formats: weights that others saved, under the names that they gave them.

Takes  a file or a folder made by TransformerLens, Hugging Face's GPT-2 or nanoGPT.
Gives  the same weights under our names, which are TransformerLens 2.x's, and a model made of them.
Never  runs what a file holds, and never guesses what weights cannot show: that is an argument.
"""

from carrylens.model.formats.foreign import ForeignWeights, load_foreign, read_foreign

__all__ = ["ForeignWeights", "load_foreign", "read_foreign"]
