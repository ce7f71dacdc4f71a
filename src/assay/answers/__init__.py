"""Here are a question and chunks that were found: what is the answer, and what does it rest on?

Every answerer keeps the port of ``model/answers.py``: it cites chunks, or refuses and says why.
"""
