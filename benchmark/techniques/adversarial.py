"""Adversarial mitigation (Zhang, Lemoine and Mitchell 2018)."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from importlib.util import find_spec
from itertools import pairwise
from typing import Annotated, Any, ClassVar, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from benchmark.data.table import Table
from benchmark.errors import TechniqueError
from benchmark.techniques._search import Search
from benchmark.techniques.base import Interval, Predictor, Technique, Tools
from benchmark.techniques.encoding import Encoding
from benchmark.techniques.registry import register

Layers: TypeAlias = Sequence[tuple[Any, Any]]
"""Weights, shape (n_in, n_out), and intercepts, shape (n_out,), of each layer: arrays, or tensors."""

_AHEAD = 10.0  # ratio of the adversary's and the predictor's steps; behind a slow adversary training circles


@register
class Adversarial(Technique):
    r"""Train a predictor against an adversary that guesses the group from its scores.

    Idea: the predictor, with weights W, has the logistic loss :math:`L_P` of its score
    :math:`\hat y = P(y{+} \mid x)`. The adversary, with weights U, guesses the group from this score with the
    loss :math:`L_A`. With every mini-batch U descends along :math:`\nabla_U L_A`, and W along

    .. math:: \nabla_W L_P - \mathrm{proj}_{\nabla_W L_A} \nabla_W L_P - \alpha \nabla_W L_A:

    the projection removes the part of the predictor's gradient that could help the adversary, and the last
    term hurts the adversary. The predictor is a logistic regression on indicators of all columns, or has one
    hidden layer. The adversary is a logistic regression on :math:`s = \sigma((1 + |c|)\,\sigma^{-1}(\hat y))`
    with c one of its weights, and for equalized odds also on s y and y. Adam without momentum trains both, in
    steps that shrink to 0.

    Changes: training only; the classifier is not used. Limits: the game need not settle, so training ends
    after a number of epochs. The fairness of its result depends on all parameters. This adversary tells
    groups by their mean scores only, so the rates of favorable answers may still differ. Needs PyTorch, the
    extra ``adversarial``.
    """

    name = "adversarial"
    stage = "in"
    reference = (
        "Zhang, Lemoine and Mitchell (2018), Mitigating unwanted biases with adversarial learning, AIES"
    )
    summary = "Train a predictor against an adversary that guesses the group from its scores"
    needs_two_groups = "there is nothing to guess"
    version = "1"
    intersections = True
    randomised = True
    packages = ("torch",)
    unconstrained: ClassVar = {"constraint": "none", "strength": 1.0}

    # Whether the adversary guesses from the score, from score and label, or not at all.
    constraint: Literal["demographic_parity", "equalized_odds", "none"] = "demographic_parity"
    strength: Annotated[float, Interval(0, 1000)] = 1.0  # the adversary's weight alpha
    # Units of the predictor's hidden layer; 0 for a logistic regression.
    hidden: Annotated[int, Interval(0, 1024)] = 0
    epochs: Annotated[int, Interval(1, 1000)] = 20  # number of passes over the training rows
    batch_size: Annotated[int, Interval(1, 65_536)] = 256  # rows of a step
    # Size of the predictor's first step; the adversary's is ten times as large.
    learning_rate: Annotated[float, Interval(1e-6, 1)] = 0.01

    search_space = (Search("strength", 0.01, 100.0, log=True),)

    def skip(self, train: Table) -> str | None:
        """Decline where PyTorch is missing, and a table with one group only."""
        if find_spec("torch") is None:
            return "PyTorch is not installed: pip install 'betabench[adversarial]'"
        return super().skip(train)

    def _fit(self, train: Table, tools: Tools) -> Predictor:
        encoding = Encoding.of(train, use_sensitive=True, treatment="categorical")
        layers = self._play(encoding.features(train), train, int(tools.rng.integers(2**63)))
        if not all(np.isfinite(part).all() for layer in layers for part in layer):
            raise TechniqueError(
                "Adversarial training diverged",
                expected="finite weights",
                remedy="lower the learning rate or the strength",
            )

        def log_odds(test: Table) -> NDArray[np.float64]:
            return np.asarray(_log_odds(encoding.features(test), layers), dtype=np.float64)

        return Predictor(
            lambda test: log_odds(test) > 0, lambda test: 0.5 * (1 + np.tanh(0.5 * log_odds(test)))
        )

    def _play(self, features: NDArray[np.float64], train: Table, seed: int) -> Layers:
        """Train both networks and return the predictor's layers as arrays."""
        torch: Any = import_module("torch")
        loss = torch.nn.functional.binary_cross_entropy_with_logits
        generator = torch.Generator().manual_seed(seed)
        with one_torch_thread(torch):
            X, y, z = (torch.as_tensor(a, dtype=torch.float32) for a in (features, train.y, train.deprived))
            sizes = [X.shape[1], *([self.hidden] if self.hidden else []), 1]
            layers = [
                (torch.randn(n, m, generator=generator) / n**0.5, torch.zeros(m)) for n, m in pairwise(sizes)
            ]
            W = [part for layer in layers for part in layer]
            sharpness, guess, intercept = U = [torch.ones(()), torch.zeros(3), torch.zeros(())]
            for part in W + U:
                part.requires_grad_()
            adversary = {"params": U, "lr": _AHEAD * self.learning_rate}
            # Without momentum, which would push against an adversary that has since moved.
            optimizer = torch.optim.Adam(
                [{"params": W}, adversary], lr=self.learning_rate, betas=(0.0, 0.9), fused=True
            )
            shrinking = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda epoch: 1 - epoch / self.epochs)
            for _ in range(self.epochs):
                for rows in torch.randperm(len(X), generator=generator).split(self.batch_size):
                    score = _log_odds(X[rows], layers)
                    if self.constraint == "none":
                        by_predictor = torch.autograd.grad(loss(score, y[rows]), W)
                        _set_gradients(W, by_predictor, [torch.zeros(())] * len(W), 0.0)
                        optimizer.step()
                        continue
                    s = torch.sigmoid((1 + sharpness.abs()) * score)
                    # The label alone is a feature, too; else s would stand in for it.
                    shown = y[rows] if self.constraint == "equalized_odds" else torch.zeros_like(s)
                    guessed = torch.stack([s, s * shown, shown], dim=1) @ guess + intercept
                    by_predictor = torch.autograd.grad(loss(score, y[rows]), W, retain_graph=True)
                    by_adversary = torch.autograd.grad(loss(guessed, z[rows]), W + U)
                    _set_gradients(W + U, by_predictor, by_adversary, self.strength)
                    optimizer.step()
                shrinking.step()
        return [(weights.detach().numpy(), bias.detach().numpy()) for weights, bias in layers]


def _log_odds(x: Any, layers: Layers) -> Any:
    """Return the log-odds, shape (n_rows,), of features, shape (n_rows, n_features)."""
    *inner, (weights, intercept) = layers
    for inner_weights, inner_intercept in inner:
        x = (x @ inner_weights + inner_intercept).clip(0)
    return (x @ weights + intercept)[:, 0]


def _set_gradients(
    weights: Sequence[Any], by_predictor: Sequence[Any], by_adversary: Sequence[Any], strength: float
) -> None:
    """Set the directions of the predictor's weights, which come first, and of the adversary's weights.

    ``by_predictor`` is the gradient of the predictor's loss by its weights, ``by_adversary`` the gradient of
    the adversary's loss by all weights.
    """
    n = len(by_predictor)
    along = sum((p * a).sum() for p, a in zip(by_predictor, by_adversary, strict=False))
    size = sum((a * a).sum() for a in by_adversary[:n])
    share = along / size if size > 0 else 0.0
    for weight, p, a in zip(weights, by_predictor, by_adversary, strict=False):
        weight.grad = p - (share + strength) * a
    for weight, a in zip(weights[n:], by_adversary[n:], strict=True):
        weight.grad = a


@contextmanager
def one_torch_thread(torch: Any) -> Iterator[None]:
    """Keep PyTorch to one thread: its sums run in one order, and other cells use the other cores."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)
