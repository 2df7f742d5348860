"""Audits whose columns are given as keywords."""

from dataclasses import fields
from typing import Any

import pandas as pd

from benchmark.audit import AuditResult, Columns, audit_predictions
from benchmark.audit.predictions import ReadyTable, prepare

_OF_COLUMNS = {field.name for field in fields(Columns)}


def audited(frame: pd.DataFrame, **options: Any) -> AuditResult:
    columns = Columns(**{name: value for name, value in options.items() if name in _OF_COLUMNS})
    others = {name: value for name, value in options.items() if name not in _OF_COLUMNS}
    return audit_predictions(frame, columns, **others)


def prepared(frame: pd.DataFrame, **options: Any) -> ReadyTable:
    return prepare(frame, Columns(**options))
