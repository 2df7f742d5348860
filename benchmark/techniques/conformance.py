"""The former place of :mod:`benchmark.conformance`, for tests that earlier versions of the package wrote."""

import importlib


def __getattr__(name: str) -> object:
    return getattr(importlib.import_module("benchmark.conformance"), name)
