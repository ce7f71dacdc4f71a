"""How does a team reach search and evaluation over HTTP?

``edge/`` surrounds every request (id, host, caller, limits, deadline, log), ``app.py`` assembles
the routes, ``service.py`` has what they share, ``wire/`` says what bodies and parameters may hold,
``routes/`` answers programs and ``pages/`` people, with one file per noun.
"""

from assay import extras

extras.require("fastapi", "uvicorn", "prometheus_client", "structlog")
