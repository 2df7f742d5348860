"""A plugin of techniques each of which does harm in a way of its own, for tests and campaigns."""

import os
import random
import signal
import sys
import threading
import time

import numpy as np

from benchmark.data import Table
from benchmark.techniques import Convergence, Predictor, Prepared, PreProcessing, Technique, register


class Hostile(PreProcessing):
    summary, reference, version = "Does harm", "none", "1"

    def _prepare(self, train, tools):
        return self.harm(train, tools) or Prepared(train)


class HostileInside(Technique):
    stage, summary, reference, version = "in", "Does harm", "none", "1"

    def _fit(self, train, tools):
        return Predictor(self.predict)

    def predict(self, test):
        return np.zeros(len(test), dtype=bool)


def harmful(name, parent=Hostile, **methods):
    return register(type(name, (parent,), {"name": name, **methods}))


def raise_it(error):
    raise error


class Unreadable(Exception):
    def __str__(self):
        raise ValueError("no words")


class OutOfTheOrdinary(BaseException):
    pass


def writes(train, tools):
    train.codes[0, 0] = 1


def forces(train, tools):
    train.codes.flags.writeable = True
    train.codes[:] = 0


def meddles(train, tools):
    train.y[train.deprived] = True
    train.deprived[:] = False
    tools.ranker(train)[:] = 0.5


def widens(train, tools):
    train.schema.cardinalities[:] = 1


def widens_features(train, tools):
    train.feature_schema.cardinalities[:] = 1


def writes_features(train, tools):
    train.features[:] = 0


def moves(train, tools):
    os.chdir("/")
    os.environ.clear()
    os.environ["OMP_NUM_THREADS"] = "64"
    np.random.seed(0)
    random.seed(0)
    np.seterr(all="raise")


def prints(train, tools):
    for _ in range(2000):
        print("x" * 1000)


def closes(train, tools):
    sys.stdout.close()
    sys.stderr.close()
    os.close(1)
    os.close(2)


def eats(train, tools):
    held = []
    while True:
        held.append(np.ones(2**23))


def spins():
    while True:
        time.sleep(0.001)


def lingers(train, tools):
    threading.Thread(target=spins).start()


def forks(train, tools):
    os.fork()


def late(train, tools):
    signal.alarm(1)


for name, harm in {
    "raises": lambda train, tools: raise_it(ValueError("a bug")),
    "raises_at_length": lambda train, tools: raise_it(ValueError("x" * 10**7)),
    "raises_unreadably": lambda train, tools: raise_it(Unreadable()),
    "raises_keyboard_interrupt": lambda train, tools: raise_it(KeyboardInterrupt()),
    "raises_base_exception": lambda train, tools: raise_it(OutOfTheOrdinary("unusual")),
    "leaves_politely": lambda train, tools: sys.exit("goodbye"),
    "leaves": lambda train, tools: os._exit(7),
    "sleeps": lambda train, tools: time.sleep(600),
    "asks_for_too_much": lambda train, tools: np.empty(10**15),
    "codes": lambda train, tools: Prepared(Table(train.schema, train.codes + np.int16(1))),
    "weights": lambda train, tools: Prepared(train, sample_weight=np.full(len(train), np.nan)),
    "writes": writes,
    "forces": forces,
    "meddles": meddles,
    "widens": widens,
    "moves": moves,
    "widens_features": widens_features,
    "writes_features": writes_features,
    "prints": prints,
    "closes": closes,
    "eats": eats,
    "lingers": lingers,
    "forks": forks,
    "late": late,
}.items():
    harmful(name, harm=staticmethod(harm))

harmful("shape", HostileInside, predict=lambda self, test: np.zeros(len(test) + 1, dtype=bool))
harmful("dtype", HostileInside, predict=lambda self, test: np.zeros(len(test), dtype="U3"))
harmful("nothing", HostileInside, _fit=lambda self, train, tools: None)
harmful(
    "past_the_checks",
    HostileInside,
    fit=lambda self, train, tools: Predictor(lambda test: np.full(len(test), np.nan)),
)
harmful(
    "convergence",
    HostileInside,
    _fit=lambda self, train, tools: Predictor(
        self.predict, convergence=Convergence(np.int64(3), float("nan"), 1e-6)
    ),
)
harmful(
    "odd_convergence",
    HostileInside,
    _fit=lambda self, train, tools: Predictor(
        self.predict, convergence=Convergence(np.int64(3), np.float32(0.0), 1)
    ),
)
harmful("skip", skip=lambda self, train: 7)
