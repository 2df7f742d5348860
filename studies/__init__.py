"""Studies of ``results/``: a folder for each question, and what they share.

A study's folder has ``findings.py``, whose ``FILES`` follow from the committed values,
further analysis if there is any, and tests. The rules of a study stand in its file of ``experiments/``, from
before its run. ``python -m studies NAME`` writes the pages and figures of a study anew.
"""
