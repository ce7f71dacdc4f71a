"""Here is a golden set and what people really ask: which set comes next, and can it be trusted?"""
