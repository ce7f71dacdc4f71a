"""How does text become words, the same for documents, queries, highlights and a cluster?"""
