"""Family run: many models taken along the route, on one machine or on many.

Takes  rows: which models, how each is made, how far each is to go.
Gives  a folder for each of them, with whatever the steps of the route made.
Never  holds anything that the folders do not: whatever dies, the same command goes on from there.
"""
