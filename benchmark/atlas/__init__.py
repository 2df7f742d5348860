"""The atlas: techniques on many datasets, and advice that is checked on datasets that it has not seen.

An atlas is a file of several experiments (:mod:`benchmark.atlas.file`). Their runs become one table of means
(:mod:`benchmark.atlas.means`) and one of the data's features (:mod:`benchmark.atlas.features`).
"""
