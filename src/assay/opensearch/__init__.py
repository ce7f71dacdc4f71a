"""How does search run on an OpenSearch cluster?

node          requests to one node
transport     requests to any node of the cluster, with deadlines
mapping       which fields does an index have?
components    bm25, splade and dense as queries
bulk          how are chunks loaded, also after an interruption?
cluster       one workspace's indexes behind an alias: current, update, check
"""
