"""How does a test set follow what people really ask, and can its judgments be trusted?"""
