"""Who says whether a passage supports a claim, or answers a question?

Every judge implements the protocol of ``model/judges.py``: ``words`` and ``entailment`` run here,
``service`` asks a language model, ``custom`` a function of the user. ``judges.open_judge`` opens
one by its name; ``kept`` sees to it that no opinion is asked for, or paid for, twice.
"""
