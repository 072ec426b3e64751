"""Discovery: what each node of a model does, found by intervention.

Takes  a model and questions.
Gives  which nodes are useful, and which variables they carry for which tokens of the answer, as facts.
Never  claims that an algorithm is there: `hypothesis/` judges.
"""
