"""Given judgments and a run in any form: which judged documents were retrieved, and where?"""
