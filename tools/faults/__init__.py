"""Disturbed runs and damaged input: ``python -m tools.faults.campaign``, ``fuzz``, ``guided``."""
