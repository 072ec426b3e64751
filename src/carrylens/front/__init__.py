"""The front door: what `import carrylens as cl` offers, one function for each thing a person wants.

Takes  models by name, by folder or in memory; texts, numbers, paths.
Gives  typed results that print in a line and draw themselves in a notebook.
Never  holds logic: `workflow/` does the work, for the command line too. Nothing heavy is imported before a call.
"""
