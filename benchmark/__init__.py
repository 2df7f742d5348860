"""betabench: which fairness technique survives which amount of planted bias.

The data's way through the package: ``data`` (card to coded table), ``network`` (learn, bias, sample),
``classifiers``, ``techniques`` and ``metrics`` (what is compared, and how), ``experiment`` (plan, run,
store), ``report`` (tables and figures), ``cli``.
"""

from importlib.metadata import PackageNotFoundError, version

try:
    __version__ = version("betabench")
except PackageNotFoundError:  # run from a source tree that was never installed
    __version__ = "0+unknown"

__all__ = ["__version__"]
