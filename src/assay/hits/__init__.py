"""Here are judgments and a run, in whatever form: which judged documents came back, and where?"""
