"""Benchmarks: hot parts beside what one would otherwise use; ``python -m tools.performance``."""
