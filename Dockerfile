# pairhmm with its workflow:
#     docker build -t pairhmm .
# Where dist/ has a wheel of `make wheel` for this Python, that is installed; else the checkout is compiled.
FROM python:3.12-slim AS wheel
RUN apt-get update && apt-get install -y --no-install-recommends g++ && rm -rf /var/lib/apt/lists/*
COPY . /checkout
WORKDIR /checkout
RUN pip download --no-index --no-deps --find-links dist --dest /wheels pairhmm || pip wheel --no-deps --wheel-dir /wheels .

# EXTRAS=kubernetes,googlebatch is the image of clusters and clouds: docs/cluster.md.
FROM python:3.12-slim
ARG EXTRAS=parquet,workflow
# minimap2 and samtools map the reads of the workflow's viral samples.
RUN apt-get update && apt-get install -y --no-install-recommends git minimap2 samtools && rm -rf /var/lib/apt/lists/*
COPY --from=wheel /wheels /wheels
RUN pip install --no-cache-dir "$(echo /wheels/pairhmm-*.whl)[$EXTRAS]" && rm -r /wheels
CMD ["pairhmm", "--help"]
