"""Audits: of predictions of any model, and of the features that a trained model depends on."""

from benchmark.audit.disparity import (
    AEQUITAS_COUNTS,
    PARITIES,
    Selection,
    by_group,
    disparities,
    group_table,
    intersect,
    overall_parity,
    parity,
    select,
)
from benchmark.audit.guide import TREE, Answer, Question, Recommendation, walk
from benchmark.audit.influence import LEVELS, audit_features, rank_features
from benchmark.audit.predictions import Columns, read_predictions
from benchmark.audit.table_audit import AuditResult, audit_predictions

__all__ = [
    "AEQUITAS_COUNTS",
    "LEVELS",
    "PARITIES",
    "TREE",
    "Answer",
    "AuditResult",
    "Columns",
    "Question",
    "Recommendation",
    "Selection",
    "audit_features",
    "audit_predictions",
    "by_group",
    "disparities",
    "group_table",
    "intersect",
    "overall_parity",
    "parity",
    "rank_features",
    "read_predictions",
    "select",
    "walk",
]
