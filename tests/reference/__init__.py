"""Agreement with independent implementations: trec_eval, pytrec_eval, gdeval, published figures."""
