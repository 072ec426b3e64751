"""The page: one self-contained HTML file about one model, made from what was saved.

Takes  saved maps, claims, facts and tests.
Gives  the text of a page that opens from disk, is printed, read aloud and used with a keyboard.
Never  measures, and never shows an effect without its null.
"""
