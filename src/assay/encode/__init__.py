"""How does text become vectors?

In the order of use: ``catalog`` and ``cards`` (which models there are), ``pull`` (fetch one),
``shelf`` (find it on this machine, intact), ``encoders`` (open it: ``open_dense``, ``open_sparse``,
``open_reranker``), ``corpus`` (encode many texts: ``encode_dense``, ``encode_sparse``) and
``cache`` (never encode a text twice). Nothing is imported here, so that listing models is fast.
"""
