"""Audits: of predictions, whoever made them, and of what a trained model depends on."""

from benchmark.audit.alternation import (
    alternate,
    alternation_test,
    gaussian_kl,
    polynomial_regression,
    summarise_alternation,
)
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
    "alternate",
    "alternation_test",
    "audit_features",
    "audit_predictions",
    "by_group",
    "disparities",
    "gaussian_kl",
    "group_table",
    "intersect",
    "overall_parity",
    "parity",
    "polynomial_regression",
    "rank_features",
    "read_predictions",
    "select",
    "summarise_alternation",
    "walk",
]
