"""How does a team reach search and evaluation over HTTP?

``frame.py`` surrounds every request (id, host, caller, limits, deadline, log), ``app.py`` puts the
routes together, ``service.py`` holds what they share, ``wire/`` says what travels, ``routes/`` has
one file per noun.
"""
