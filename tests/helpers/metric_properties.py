"""Which metrics lack a property."""

from __future__ import annotations

# Metrics of which a property does not hold, and why.
NOT_MIRRORED = {
    "abroca": "an area between two curves, which is not negative",
    "flip_test": "asks the rows of one group for neighbors in the other, and not the other way round",
    "label_kl_divergence": "a divergence of one group from the other",
    "predicted_positive_share": "the groups' shares sum to 1",
}
NOT_WEIGHTED = {
    **dict.fromkeys(("consistency", "flip_test"), "neighbors are rows, whatever their weights"),
    **dict.fromkeys(
        ("alternation_divergence", "alternation_gap"), "one row has no spread, whatever its weight"
    ),
}
