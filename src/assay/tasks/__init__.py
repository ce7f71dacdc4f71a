"""What do the command line, the service and its pages do with a workspace alike?

One function per task, so that a verb means the same wherever it is called. Nothing here prints, and
nothing knows of HTTP.
"""
