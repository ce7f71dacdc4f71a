"""Do the examples of the documentation run?"""
