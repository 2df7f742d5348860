"""betabench: which fairness technique survives which amount of planted bias.

The data's way through the package: ``data`` (card to coded table), ``network`` (learn, bias, sample),
``classifiers``, ``techniques`` and ``metrics`` (what is compared, and how), ``experiment`` (plan, run,
store), ``report`` (tables and figures), ``cli``.
"""

__version__ = "0.2.0"

__all__ = ["__version__"]
