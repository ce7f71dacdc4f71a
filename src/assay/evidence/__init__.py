"""Do these passages answer the question: about the right subject, well enough, number by number?"""
