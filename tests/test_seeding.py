"""Lots of rows: by chance, and each row's own."""

import numpy as np

from benchmark.seeding import lots_of_rows

CODES = np.random.default_rng(0).integers(0, 20, (5_000, 4)).astype(np.int16)


def test_lots_are_uniform_and_independent_of_each_other() -> None:
    lots = lots_of_rows(np.unique(CODES, axis=0), seed=1, n_lots=3)
    assert ((lots >= 0) & (lots < 1)).all()
    for lot in lots.T:
        np.testing.assert_allclose(np.bincount((lot * 10).astype(int)) / len(lot), 0.1, atol=0.02)
    np.testing.assert_allclose(np.corrcoef(lots.T), np.eye(3), atol=0.06)


def test_lots_are_a_rows_own() -> None:
    lots = lots_of_rows(CODES, seed=1, n_lots=3)
    some = np.random.default_rng(1).permutation(len(CODES))[:50]
    np.testing.assert_array_equal(lots_of_rows(np.asfortranarray(CODES[some]), 1, 3), lots[some])
    np.testing.assert_array_equal(lots_of_rows(CODES, 1, 1), lots[:, :1])
    assert not np.isin(lots_of_rows(CODES, 2, 3), lots).all()
    assert lots_of_rows(CODES[:0], 1, 3).shape == (0, 3)
    assert lots_of_rows(CODES, 1, 0).shape == (len(CODES), 0)


def test_lots_are_the_same_on_every_machine() -> None:
    lots = lots_of_rows(np.array([[1, 2], [3, 4]], dtype=np.int16), 7, 2)
    assert (lots * 2**32).tolist() == [[608794070, 894984304], [3615331146, 929395376]]
