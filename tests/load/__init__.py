"""Does the service keep its promises when more is asked than it can answer?"""
