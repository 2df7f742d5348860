"""What the documentation site adds to MkDocs: pages from declarations, formulas, the notebook, links.

``mkdocs.yml`` names :mod:`benchmark.report.site.hooks` and :mod:`benchmark.report.site.docstrings`; all else
here is pure functions from text to text.
"""
