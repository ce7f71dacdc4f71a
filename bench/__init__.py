"""Benchmarks beside other tools; run one with `python -m bench.NAME`."""
