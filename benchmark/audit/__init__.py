"""Questions to a trained model: what its predictions depend on."""

from benchmark.audit.influence import LEVELS, audit_features, rank_features

__all__ = ["LEVELS", "audit_features", "rank_features"]
