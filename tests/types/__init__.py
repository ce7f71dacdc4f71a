"""What may a program write, and what does a type checker refuse?"""
