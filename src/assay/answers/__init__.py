"""Given a question and retrieved chunks: what is the answer, and what is it based on?

Every answerer implements the protocol of ``model/answers.py``: it cites chunks, or declines to
answer and says why.
"""
