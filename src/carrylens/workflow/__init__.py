"""Workflow: what each command does, as calls of the rooms in the order of the route.

Takes  what a user asks for.
Gives  records ready to print, and work under way.
Never  prints, and never does what a room could do alone.

One module a command; `explaining.py` is the whole route and calls the others, and none of them calls it.
"""
