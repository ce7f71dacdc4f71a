"""Is what is installed known, pinned and free of known holes?"""
