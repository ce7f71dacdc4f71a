"""Where one machine is not enough: which distributed engine holds the data?

An engine offers the same components as the embedded index and passes the same contract suite
(``assay.testing.component``); fusion, boosts, reranking and evaluation stay ours.
"""
