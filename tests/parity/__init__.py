"""Does the same request give the same values through Python, command, service and page?"""
