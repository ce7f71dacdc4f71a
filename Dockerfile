# syntax=docker/dockerfile:1
# Two stages: dependencies are installed by hash, and the final image has no build tools.
FROM python:3.12-slim-bookworm AS build
WORKDIR /src
RUN apt-get update && apt-get install --yes --no-install-recommends gcc libc6-dev \
    && python -m venv /opt/assay
COPY requirements/all.lock ./
RUN /opt/assay/bin/pip install --no-cache-dir --require-hashes -r all.lock
COPY pyproject.toml hatch_build.py README.md LICENSE ./
COPY src ./src
RUN /opt/assay/bin/pip install --no-cache-dir hatchling==1.27.0 \
    && /opt/assay/bin/pip install --no-cache-dir --no-deps --no-build-isolation . \
    && /opt/assay/bin/pip uninstall --yes hatchling
# The models travel with the image, so that a container needs no network: the default of each role,
# or those that are named (docker build --build-arg MODELS="NAME NAME").
ARG MODELS=""
RUN mkdir /opt/models && ASSAY_MODELS=/opt/models /opt/assay/bin/assay models pull ${MODELS} \
    && chmod -R a+rX /opt/models

FROM python:3.12-slim-bookworm
RUN groupadd --system --gid 10001 assay \
    && useradd --system --uid 10001 --gid assay --home-dir /data --shell /usr/sbin/nologin assay \
    && install --directory --owner=assay --group=assay --mode=0700 /data \
    && install --directory --owner=assay --group=assay --mode=0755 /scrape /corpus
COPY --from=build /opt/assay /opt/assay
COPY --from=build /opt/models /opt/models
COPY ops/container/prepare /opt/assay/bin/prepare
ENV PATH=/opt/assay/bin:$PATH \
    PYTHONDONTWRITEBYTECODE=1 \
    PYTHONUNBUFFERED=1 \
    ASSAY_HOME=/data \
    ASSAY_MODELS=/opt/models \
    ASSAY_HOST=0.0.0.0 \
    ASSAY_PORT=8321 \
    CORPUS=/corpus \
    SCRAPE=/scrape
USER 10001:10001
WORKDIR /data
VOLUME ["/data"]
EXPOSE 8321
STOPSIGNAL SIGTERM
# A public address needs a key: compose.yaml makes one, or run keys create me --scope admin first.
HEALTHCHECK --interval=15s --timeout=3s --start-period=30s --retries=3 \
    CMD ["python", "-c", "import urllib.request as u; u.urlopen(u.Request('http://127.0.0.1:8321/healthz', headers={'Host': 'localhost'}), timeout=2)"]
ENTRYPOINT ["assay"]
CMD ["serve"]
