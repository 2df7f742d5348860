"""Audits: of predictions of any model, and of the features that a trained model depends on."""

from benchmark.audit.influence import LEVELS, audit_features, rank_features
from benchmark.audit.predictions import Columns, read_predictions
from benchmark.audit.rates import PARITIES, GroupRates
from benchmark.audit.table_audit import AuditResult, audit_predictions

__all__ = [
    "LEVELS",
    "PARITIES",
    "AuditResult",
    "Columns",
    "GroupRates",
    "audit_features",
    "audit_predictions",
    "rank_features",
    "read_predictions",
]
