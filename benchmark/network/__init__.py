"""Bayesian networks: learned, edited, sampled, asked, written and read; each in a module of its own."""
