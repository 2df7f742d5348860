"""What the documentation site adds to MkDocs: pages from declarations and results, formulas, the notebook.

``mkdocs.yml`` names :mod:`website.hooks` and :mod:`website.docstrings`. Only the build of the site needs this
package, which runs from the source tree and is not in the wheel.
"""
