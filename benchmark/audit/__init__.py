"""Audits of predictions of any model."""

from benchmark.audit.predictions import Columns, read_predictions
from benchmark.audit.rates import PARITIES, GroupRates
from benchmark.audit.table_audit import AuditResult, audit_predictions

__all__ = [
    "PARITIES",
    "AuditResult",
    "Columns",
    "GroupRates",
    "audit_predictions",
    "read_predictions",
]
