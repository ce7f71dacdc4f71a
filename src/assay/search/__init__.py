"""Here is a question: which chunks answer it best, and why?

Components search side by side, their lists are fused, boosts follow, a reranker may come last.

    question, synonyms, check     what is asked, and can it be done?
    deadline, breaker             how is something asked that may hang?
    coordinator                   components side by side: who answered in time?
    fusion/, boost/, rerank       lists become one list; intents lift; a model may have its say
    ranking, pipeline             the one order of all that, and the page that is cut out of it
    searcher, snapshot, cache     what lives as long as the process
    options, response, why        what goes in, what comes out, and why something did not
"""
