# syntax=docker/dockerfile:1
# Two stages: dependencies are installed by hash, and the final image has no build tools.
FROM python:3.12-slim-bookworm AS build
WORKDIR /src
RUN apt-get update && apt-get install --yes --no-install-recommends gcc libc6-dev \
    && python -m venv /opt/assay
COPY requirements/base.lock ./
RUN /opt/assay/bin/pip install --no-cache-dir --require-hashes -r base.lock
COPY pyproject.toml hatch_build.py README.md LICENSE ./
COPY src ./src
RUN /opt/assay/bin/pip install --no-cache-dir hatchling==1.27.0 \
    && /opt/assay/bin/pip install --no-cache-dir --no-deps --no-build-isolation . \
    && /opt/assay/bin/pip uninstall --yes hatchling

FROM python:3.12-slim-bookworm
RUN groupadd --system --gid 10001 assay \
    && useradd --system --uid 10001 --gid assay --home-dir /data --shell /usr/sbin/nologin assay \
    && install --directory --owner=assay --group=assay --mode=0700 /data
COPY --from=build /opt/assay /opt/assay
ENV PATH=/opt/assay/bin:$PATH \
    PYTHONDONTWRITEBYTECODE=1 \
    PYTHONUNBUFFERED=1 \
    ASSAY_HOME=/data \
    ASSAY_HOST=0.0.0.0 \
    ASSAY_PORT=8321
USER 10001:10001
WORKDIR /data
VOLUME ["/data"]
EXPOSE 8321
STOPSIGNAL SIGTERM
# A public address needs a key: docker compose run --rm assay keys create me --scope admin
HEALTHCHECK --interval=15s --timeout=3s --start-period=30s --retries=3 \
    CMD ["python", "-c", "import urllib.request as u; u.urlopen(u.Request('http://127.0.0.1:8321/healthz', headers={'Host': 'localhost'}), timeout=2)"]
ENTRYPOINT ["assay"]
CMD ["serve"]
