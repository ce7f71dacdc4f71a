"""Here is a workspace: how does its golden set move from real searches to its next version?

Sample, pool, judge, agree, refresh. The rules are in ``evaluation/refresh/``; here they meet the
query log, the index, the rounds and the stored runs. The command line and the service use these
functions alike.
"""
