"""Here are chunks: how are they found again, fast, exactly, and after a crash?

A generation is a set of files that never change, named by one manifest that is replaced atomically.

    files, manifest, lock   how is a generation written, checked and replaced?
    columns                 which chunks pass a filter?
    bm25, sparse, dense     the three components
    writer, reader, check   who builds, who opens, and is it sound?
"""
