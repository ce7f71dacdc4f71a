"""Here is a question: which chunks answer it best, and why?

Components search side by side, their lists are fused, boosts follow, a reranker may come last.
"""
