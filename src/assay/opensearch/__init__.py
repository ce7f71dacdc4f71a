"""How does search run on an OpenSearch cluster?

node          how is one node asked?
transport     who speaks HTTP with the cluster, within which time?
mapping       which fields does an index have?
components    bm25, splade and dense as queries
loading       how do chunks get there, also after an interruption?
cluster       one workspace's indexes behind an alias: current, update, check
"""
