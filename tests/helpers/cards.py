"""Cards of made-up data."""

LOANS = """
name = "loans"
title = "Loans"
label = "repaid"
favorable_label = "yes"
sensitive_feature = "gender"
deprived_group = "f"
required_edges = [["gender", "repaid"]]
[source]
format = "csv"
files = [{ path = "loans.csv" }]
[columns.gender]
kind = "categorical"
states = ["f", "m"]
[columns.income]
kind = "numeric"
bins = [0, 10, 20, 30]
states = ["low", "middle", "high"]
[columns.repaid]
kind = "categorical"
states = ["no", "yes"]
"""
