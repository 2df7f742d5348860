"""Bayesian networks: learning, sampling, exact inference and files, each in one module."""
