"""Techniques as estimators on data frames, and the lines of Python that apply them."""
