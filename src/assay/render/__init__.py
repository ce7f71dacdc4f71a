"""Here is a result: how does it read as a table, Markdown, CSV, JSON or trec_eval's columns?"""
