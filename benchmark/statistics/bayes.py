"""Bayesian signed-rank test with a region of practical equivalence."""

import functools

import numpy as np

from benchmark.errors import StatisticsError
from benchmark.seeding import generator
from benchmark.statistics.cells import Array

ROPE = 0.01
"""Differences up to which two techniques are practically equivalent, in the metric's unit."""

PRIOR = 0.5
"""Weight of the pseudo-observation at 0, in observations."""

N_SAMPLES = 50_000
"""Number of samples of the posterior."""

_SAMPLES_AT_ONCE = 1_000  # as many as fit the cache of a processor


def signed_rank_probabilities(
    differences: Array,
    *,
    rope: float = ROPE,
    prior: float = PRIOR,
    n_samples: int = N_SAMPLES,
    seed: int = 0,
) -> Array:
    """Return the probabilities that differences are mostly negative, negligible and positive.

    The weights of the observations have a Dirichlet posterior, with a pseudo-observation at 0 for the prior.
    The probability of each of the three cases is the share of samples in which the case has the largest of
    :func:`posterior_shares`.

    Each row of ``differences``, shape (n_rows, n), is a test, with a column for each dataset. ``rope``, at
    least 0, is half the width of the region of practical equivalence, and ``prior``, above 0, the strength of
    the prior. The standard deviation of a probability is at most ``0.5 / sqrt(n_samples)``. ``seed`` decides
    which samples are drawn, and rows share them. The result, shape (n_rows, 3), has the paper's left, rope
    and right; a row sums to 1. A StatisticsError says that a setting is impossible.

    Benavoli, Corani, Demsar and Zaffalon (2017), Time for a change: a tutorial for comparing multiple
    classifiers through Bayesian analysis, JMLR 18(77), section 4.2.
    """
    if rope < 0 or prior <= 0 or n_samples < 1:
        raise StatisticsError(
            "The Bayesian signed-rank test cannot be set up",
            expected="rope of at least 0, prior above 0, n_samples of at least 1",
            got=f"rope {rope}, prior {prior}, n_samples {n_samples}",
            remedy="leave out each setting whose default will do",
        )
    wins = np.zeros((len(differences), 3))
    for weights in _posterior(differences.shape[1], prior, n_samples, seed):
        negative, positive = posterior_shares(differences, weights, rope)
        negligible = 1 - negative - positive
        wins[:, 0] += ((negative > negligible) & (negative > positive)).sum(axis=0)
        wins[:, 2] += ((positive > negligible) & (positive > negative)).sum(axis=0)
    wins[:, 1] = n_samples - wins[:, 0] - wins[:, 2]
    return wins / n_samples


# The comparisons of a run use the same samples, one after the other.
@functools.lru_cache(maxsize=1)
def _posterior(n: int, prior: float, n_samples: int, seed: int) -> list[Array]:
    """Return the weights of a pseudo-observation and n observations, in parts of a thousand samples."""
    rng = generator(seed, purpose="signed-rank posterior", n=n)
    sizes = [min(_SAMPLES_AT_ONCE, n_samples - start) for start in range(0, n_samples, _SAMPLES_AT_ONCE)]
    return [rng.dirichlet([prior] + [1.0] * n, size=size) for size in sizes]


def posterior_shares(differences: Array, weights: Array, rope: float) -> tuple[Array, Array]:
    r"""Return the weighted shares of pairs of observations whose mean is clearly negative, clearly positive.

    Observations are :math:`z_1 \dots z_n`, the pseudo-observation is :math:`z_0 = 0`, and :math:`w` are their
    weights. The share of positive pairs is :math:`\sum_{ij} w_i w_j \mathbb{1}[z_i + z_j > 2 r]`, and
    negative pairs have :math:`< -2r`. The rest lies within the region :math:`[-r, r]` of practical
    equivalence.

    ``differences`` have shape (n_rows, n). ``weights`` have shape (n_samples, n + 1), the pseudo-observation
    first; each sample sums to 1. Both shares have shape (n_samples, n_rows).
    """
    observed = np.hstack([np.zeros((len(differences), 1)), differences])
    first, second = np.triu_indices(observed.shape[1])
    # Each pair of two different observations counts twice: the sum runs over ordered pairs.
    joint = weights[:, first] * weights[:, second] * np.where(first == second, 1, 2)
    sums = observed[:, first] + observed[:, second]
    # Products with booleans would not go through BLAS.
    negative, positive = (sums < -2 * rope).astype(float), (sums > 2 * rope).astype(float)
    return joint @ negative.T, joint @ positive.T
