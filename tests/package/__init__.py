"""Does the built wheel install and work on a machine that has nothing but Python?"""
