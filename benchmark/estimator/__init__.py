"""Techniques for use: an estimator on data frames, and the lines of Python that show how it is used."""
