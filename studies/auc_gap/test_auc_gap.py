"""The findings of results/auc_gap: words that studies/auc_gap/findings.py does not compute."""

from __future__ import annotations

import pytest

from studies.auc_gap.findings import GROUPS, mean, summary


def test_the_proxy_opens_the_gap() -> None:
    for dataset, (proxied, other) in GROUPS.items():
        gaps = summary().loc[dataset].xs(("none", "auc_gap"), level=("technique", "metric"))["mean"]
        assert gaps.sort_index().is_monotonic_increasing
        assert mean(dataset, "none", f"auc[{proxied}]") > mean(dataset, "none", f"auc[{proxied}]", 0.0)
        assert mean(dataset, "none", f"auc[{other}]") < mean(dataset, "none", f"auc[{other}]", 0.0)


def test_what_closes_the_gap() -> None:
    low, high = (summary()[end] for end in ("ci_low", "ci_high"))
    for dataset in ("compas", "dutch"):
        assert low[dataset, 0.8, "eg_odds", "auc_gap"] > 0
        assert mean(dataset, "eg_tpr", "auc_gap") / mean(dataset, "none", "auc_gap") == pytest.approx(
            0.5, abs=0.08
        )
        assert high[dataset, 0.8, "eg_odds", "auc_gap"] < 0.25 * mean(dataset, "none", "auc_gap")
    for technique in ("eg_tpr", "eg_odds"):
        assert mean("adult", technique, "auc_gap") > 0.7 * mean("adult", "none", "auc_gap")


def test_what_it_costs() -> None:
    lost = {
        (d, t): mean(d, "none", "auc_overall") - mean(d, t, "auc_overall")
        for d in GROUPS
        for t in ("eg_tpr", "eg_odds", "eg_free")
    }
    assert min(lost.values()) > 0.05
    for dataset in ("adult", "dutch"):
        assert (
            lost[dataset, "eg_free"] > 0.95 * max(lost[dataset, "eg_tpr"], lost[dataset, "eg_odds"]) - 0.005
        )
    assert lost["compas", "eg_free"] == pytest.approx(lost["compas", "eg_tpr"], abs=0.005)
    assert lost["compas", "eg_free"] / lost["compas", "eg_odds"] == pytest.approx(2 / 5, abs=0.05)
    for technique in ("eg_tpr", "eg_odds"):
        assert mean("adult", "none", "accuracy") - mean("adult", technique, "accuracy") < 0.01
    for beta in (0.0, 0.8):
        gaps = {d: [mean(d, t, "auc_gap", beta) for t in ("none", "eg_free")] for d in GROUPS}
        assert gaps["adult"][1] < gaps["adult"][0] / 2
        assert gaps["dutch"][1] > gaps["dutch"][0]
