"""How good is a ranking? Pure measures over one judged-hits table."""
