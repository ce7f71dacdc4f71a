"""How good is a system, how sure are we, and is it better than the other one?"""
