"""Finished runs: description, numbers as frames, and the analysis that all outputs share."""
