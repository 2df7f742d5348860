"""Advice, its page and its command say what the rule allows, for every combination of choices."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from benchmark import recommend
from benchmark.atlas.adviser import CHECKED, NOT_KNOWN, SIMPLE, Adviser, Question
from benchmark.atlas.adviser import sentences_of as words_of
from benchmark.atlas.recommenders import p_of_contrasts, rows_of
from benchmark.cli import main
from benchmark.errors import DataError, ExperimentError, ReportError, UnknownNameError
from benchmark.pages.atlas_page import atlas_page, choices_of, sentences_of
from benchmark.statistics.hypothesis_tests import holm, sign_flip_interval, sign_flip_p_values
from studies.atlas.comparison import write_comparison
from tests.helpers.atlases import DOSES, Gain, alike, by_kind, write_atlas

World = Callable[..., Path]
ONE = (0.1,)
"""The dose of worlds in which no other is asked about: to compare recommenders takes a second a dose."""


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> World:
    """Return the folder of a world's tables, by its gain and number of clusters; each is made once."""

    @cache
    def folder_of(gain: Gain, n_clusters: int = 9, doses: tuple[float, ...] = DOSES) -> Path:
        folder = write_atlas(tmp_path_factory.mktemp("atlas"), gain, n_clusters=n_clusters, doses=doses)
        write_comparison(folder)
        return folder

    return folder_of


def test_the_simple_rule_is_named_where_nothing_beats_it(world: World) -> None:
    advice = Adviser.of(world(alike)).advise("restore", bias="label", dose=0.1)
    assert (advice.technique, advice.grade) == ("drop_sensitive", SIMPLE)
    assert advice.low > 0
    assert advice.new_low < advice.low < advice.gain < advice.new_high
    [new] = [sentence for sentence in advice.sentences if "On a new source measured this way" in sentence]
    assert new.endswith(f"a gain between {advice.new_low:.3f} and {advice.new_high:.3f} in 95 of 100 cases.")
    assert "try leaving the group out (drop_sensitive)." in advice.sentences[0]
    assert advice.sentences[-1] == "In Python: FairClassifier('drop_sensitive', sensitive=...)."
    assert any("is not shown to be better at this dose" in sentence for sentence in advice.sentences)


def test_what_is_known_is_the_first_axis(world: World, capsys: pytest.CaptureFixture[str]) -> None:
    atlas = Adviser.of(world(alike))
    blind, told = atlas.advise("restore"), atlas.advise("restore", knows="gap")
    assert (blind.technique, told.technique) == ("drop_sensitive", "gap_weights")
    assert told.gain > blind.gain + 0.02
    assert told.agreement[0] == pytest.approx(told.gain / 2)
    assert "and you know by how much the deprived group's rate" in told.sentences[0]
    assert told.usage == "FairClassifier('gap_weights', told={'kind': ..., 'gap': ...}, sensitive=...)"
    assert main(["recommend", "--goal", "restore", "--atlas", str(world(alike))]) == 0
    text = " ".join(capsys.readouterr().out.split())
    assert text.startswith("To undo wrong refusals, look at 50 refusals of the deprived group again")
    assert "To restore decisions, told nothing, try leaving the group out" in text
    assert "Told the gap: try gap_weights (distance to .050, agreement to" in text


@pytest.mark.parametrize(
    ("asked", "said", "unsaid"),
    [
        (
            ["--knows", "gap"],
            "how much the deprived group's rate of favorable labels is too low",
            "sample-refusals",
        ),
        (["--bias", "selection"], "Told the gap: try gap_weights", "sample-refusals"),
        (["--dose", "0.05"], "with a planted gap of .05 and correct verdicts", "gap of .10"),
    ],
)
def test_what_is_known_feared_and_how_much_decides_what_is_to_be_found_out(
    world: World, capsys: pytest.CaptureFixture[str], asked: list[str], said: str, unsaid: str
) -> None:
    assert main(["recommend", "--goal", "restore", "--atlas", str(world(alike)), *asked]) == 0
    text = " ".join(capsys.readouterr().out.split())
    assert said in text
    assert unsaid not in text


def test_what_is_nearer_and_agrees_less_is_not_to_be_tried(tmp_path: Path) -> None:
    folder = write_atlas(tmp_path, alike, n_clusters=8, doses=ONE)
    means = pd.read_csv(folder / "means.csv")
    means["agreement"] = 0.9 - 0.01 * (means["technique"] != "none")
    means.to_csv(folder / "means.csv", index=False)
    write_comparison(folder)
    advice = Adviser.of(folder).advise("restore")
    assert (advice.low > 0, advice.agreement[2] < 0, advice.shown) == (True, True, False)
    assert "no technique is shown to help here" in advice.sentences[0]


def test_advice_by_kind_is_named_where_the_rule_lets_it(world: World) -> None:
    atlas = Adviser.of(world(by_kind))
    for bias, technique in (("label", "massaging"), ("selection", "reweighing")):
        advice = atlas.advise("restore", bias=bias, dose=0.1)
        assert (advice.technique, advice.grade) == (technique, CHECKED)
        assert "beats the best simple rule" in advice.sentences[-2]
        assert advice.gain == pytest.approx(0.06, abs=0.002)  # against this kind, not over all kinds


def test_what_may_be_changed_restricts_the_techniques(world: World) -> None:
    atlas = Adviser.of(world(alike))
    assert atlas.advise(stage="post").technique == "threshold_optimizer"
    assert "nothing is known" in str(atlas.advise(stage="in"))
    assert atlas.advise(group_known=False).technique == "drop_sensitive"


def test_few_clusters_are_not_known(world: World) -> None:
    advice = Adviser.of(world(by_kind, 6, ONE)).advise(bias="label")
    assert (advice.technique, advice.grade) == ("", NOT_KNOWN)
    assert "what to try is not known" in str(advice)


def test_a_name_that_the_atlas_lacks_is_said(tmp_path: Path, world: World) -> None:
    with pytest.raises(UnknownNameError, match="sabotage"):
        Adviser.of(world(alike)).advise(bias="sabotage")
    with pytest.raises(ReportError, match="has no tables of an atlas"):
        Adviser.of(tmp_path / "elsewhere")


@pytest.fixture(scope="module")
def page(world: World) -> tuple[Adviser, str]:
    atlas = Adviser.of(world(by_kind))
    return atlas, atlas_page(atlas)


def test_the_page_has_the_advice_of_every_combination(page: tuple[Adviser, str]) -> None:
    atlas, html = page
    found = re.search(r'<script id="data" type="application/json">(.*?)</script>', html, re.DOTALL)
    data = json.loads(found[1])
    n_combinations = 1
    for values in choices_of(atlas).values():
        n_combinations *= len(values)
    sentences = list(sentences_of(atlas))
    assert len(sentences) == n_combinations == len(data["advice"])
    for key, technique, told in sentences:
        name, *texts = data["advice"][key]
        assert (name, tuple(data["texts"][i] for i in texts)) == (technique, told)
        goal, bias, dose, knows, *_, group, stage = key.split("|")
        if stage == "any" and group == "known" and (knows == "nothing" or goal == "equalize"):
            verdict = atlas.verdicts[goal, float(dose)]
            checked = any("beats the best simple rule" in sentence for sentence in told)
            assert checked == (verdict.advice in verdict.by and bias != "any")


def test_the_page_loads_nothing_and_is_small(page: tuple[Adviser, str]) -> None:
    html = page[1]
    assert len(html) < 2_000_000
    assert re.findall(r"(?:src|href)\s*=\s*[\"'](?!#)[^\"']*", html) == ['href="data:,']
    assert "http" not in re.sub(r"http-equiv", "", html)


def test_the_commands_print_the_answer(
    tmp_path: Path, world: World, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["atlas", str(world(alike)), "--html", str(tmp_path / "page.html")]) == 0
    printed = capsys.readouterr().out
    assert "(b) leave the group out" in printed
    assert (tmp_path / "page.html").stat().st_size > 10_000
    assert main(["recommend", "--bias", "label", "--dose", "0.1", "--atlas", str(world(alike))]) == 0
    assert "Evidence: simple rule, " in capsys.readouterr().out


def people(group: Sequence[str], label: Sequence[str], age: Sequence[int] | None = None) -> pd.DataFrame:
    ages = [20 + i % 30 for i in range(len(group))] if age is None else age
    return pd.DataFrame({"sex": group, "age": ages, "hired": label})


def with_rates(deprived: float, favored: float, n: int = 600, share: float = 0.5) -> pd.DataFrame:
    """Return rows whose shares of favorable labels in the deprived group ``f`` and in ``m`` are given."""
    group = ["f" if i < share * n else "m" for i in range(n)]
    rate = {"f": deprived, "m": favored}
    seen = {"f": 0, "m": 0}
    label = []
    for name in group:
        seen[name] += 1
        label.append("yes" if int(seen[name] * rate[name]) > int((seen[name] - 1) * rate[name]) else "no")
    return people(group, label)


ROLES: dict[str, Any] = {"label": "hired", "favorable": "yes", "sensitive": "sex", "deprived": "f"}


def test_a_file_of_the_user_gets_advice(
    tmp_path: Path, world: World, capsys: pytest.CaptureFixture[str]
) -> None:
    with_rates(0.5, 0.6).to_csv(tmp_path / "people.csv", index=False)
    words = ["--label", "hired", "--favorable", "yes", "--sensitive", "sex", "--deprived", "f"]
    words += ["--atlas", str(world(alike))]
    assert main(["recommend", str(tmp_path / "people.csv"), *words]) == 0
    printed = capsys.readouterr().out.replace("\n", " ")
    assert "Read: 600 rows" in printed
    assert "hired = yes against no; sex = f (300 rows, 50 % favorable) against m (60 %)." in printed
    advice = recommend(tmp_path / "people.csv", **ROLES, atlas=world(alike))
    assert (advice.technique, advice.shown, advice.outside) == ("drop_sensitive", True, ())
    # What the reading of the file warns of stands before any advice, in the terminal and in Python.
    frame = pd.read_csv(tmp_path / "people.csv")
    frame["sex_code"] = (frame["sex"] == "f").astype(int)
    frame.loc[frame["sex"] == "m", "hired"] = "no"
    frame.to_csv(tmp_path / "ahead.csv", index=False)
    assert main(["recommend", str(tmp_path / "ahead.csv"), *words]) == 0
    printed = capsys.readouterr().out.replace("\n", " ")
    for told in (str(recommend(frame, **ROLES, drop=["age"], atlas=world(alike))), printed):
        assert "sex = 'f' is better off in these data" in told
        assert "sex_code is left out: it goes with the sensitive column" in told
        assert ": try " not in told
    with pytest.raises(DataError, match="no column 'aeg'"):
        recommend(frame, **ROLES, drop="aeg")


@pytest.mark.parametrize(
    ("rows", "names"),
    [
        (with_rates(0.5, 0.9), ["gap"]),
        (with_rates(0.5, 0.6, share=0.75), ["share_deprived"]),
        (with_rates(0.02, 0.15, n=1200), ["base_rate"]),
        (with_rates(0.5, 0.6, n=90), ["rows"]),
    ],
)
def test_data_that_no_source_is_like_get_no_advice(
    world: World, rows: pd.DataFrame, names: list[str]
) -> None:
    advice = recommend(rows, **ROLES, atlas=world(alike))
    assert [out.name for out in advice.outside] == names
    assert (advice.technique, advice.usage, advice.shown, advice.grade) == ("", "", False, NOT_KNOWN)
    assert "what to try is not known" in str(advice)
    told = " ".join(advice.sentences)
    assert "what to try is not known for data like yours" in told
    assert "No source of the atlas is like that." in told
    assert ": try " not in told
    [out] = advice.outside
    assert not out.low <= out.value <= out.high


def test_the_reason_for_no_advice_is_printed_once_for_both_goals(
    world: World, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with_rates(0.5, 0.9).to_csv(tmp_path / "people.csv", index=False)
    words = ["--label", "hired", "--favorable", "yes", "--sensitive", "sex", "--deprived", "f"]
    assert main(["recommend", str(tmp_path / "people.csv"), *words, "--atlas", str(world(alike))]) == 0
    printed = " ".join(capsys.readouterr().out.split())
    assert printed.count("what to try is not known for data like yours") == 2
    assert printed.count("data of the atlas") == 1  # the reason once for both goals


def test_a_group_that_is_ahead_gets_the_record_on_such_data(tmp_path: Path) -> None:
    folder = write_atlas(tmp_path, alike)
    features, means = pd.read_csv(folder / "features.csv"), pd.read_csv(folder / "means.csv")
    ahead = ["data0", "data3"]
    features.loc[features["dataset"].isin(ahead), "rate_deprived"] = 0.9
    features.to_csv(folder / "features.csv", index=False)
    harmed = means["dataset"].eq("data0") & means["technique"].eq("drop_sensitive")
    means.loc[harmed, ["restoration_distance", "distance"]] = 0.3
    means.to_csv(folder / "means.csv", index=False)
    write_comparison(folder)
    for rates in ((0.66, 0.35), (0.51, 0.5)):
        advice = recommend(with_rates(*rates, n=800), **ROLES, atlas=folder)
        record = advice.ahead
        assert (record.scenarios, record.datasets, record.clusters) == (8, 2, 2)
        assert record.farther == 0.5  # in all four of data0
        assert record.nothing == pytest.approx(0.1, abs=0.002)
        assert record.value == pytest.approx((0.3 + 0.08) / 2, abs=0.002)
        assert (advice.technique, advice.usage, advice.shown) == ("", "", False)
        assert "The deprived group has the favorable label more often" in " ".join(str(advice).split())
        told = " ".join(advice.sentences)
        assert "(drop_sensitive) was farther from the goal than doing nothing in 50 % of the scen" in told
        assert ": try " not in told
        assert "is better off in these data" in told


def test_no_record_is_said_where_no_group_of_the_sources_is_ahead(world: World) -> None:
    advice = recommend(with_rates(0.6, 0.5), **ROLES, atlas=world(alike))
    assert advice.ahead.scenarios == 0
    assert "No source of the atlas is like that." in advice.sentences


def test_the_corrected_interval_decides_what_is_shown(world: World) -> None:
    def mostly(technique: str, kind: str, rate: float) -> float:
        return (
            (-0.03 if rate < 0.3 else 0.03)
            if technique in ("drop_sensitive", "gap_weights")
            else -0.05 * (technique != "none")
        )

    atlas = Adviser.of(world(mostly, 12))
    named = {goal: p_of_contrasts(atlas.recommenders, goal) for goal in ("restore", "equalize")}
    assert [len(p) for p in named.values()] == [4, 2]  # at two doses
    of = (atlas.scenarios["restore"].frame["level"] == 0.1).to_numpy()
    frame, gains = atlas.scenarios["restore"].frame[of], atlas.scenarios["restore"].gain[of, 1]
    by_cluster = pd.Series(gains).groupby(frame["cluster"].to_numpy()).mean().to_numpy()
    advice = atlas.advise("restore")
    assert (advice.low, advice.high) == pytest.approx(sign_flip_interval(by_cluster))
    own = float(sign_flip_p_values(by_cluster[None, :])[0])  # agreement rises with the gain
    others = [p for pair, p in named["restore"].items() if pair != (advice.rule, "nothing", 0.1)]
    assert advice.p_corrected == holm(np.array([own, *others]))[0]
    assert own < 0.05 < advice.p_corrected
    assert 0 < advice.low < advice.gain
    assert not advice.shown
    assert "no technique is shown to help here" in str(advice)
    assert (
        f"With Holm's correction for {1 + len(others)} comparisons, its p-value is {advice.p_corrected:.3f}"
        in str(advice)
    )


def test_scenarios_with_nothing_to_restore_are_counted_apart(tmp_path: Path) -> None:
    folder = write_atlas(tmp_path, alike)
    means = pd.read_csv(folder / "means.csv")
    means["accepted_favored"] = 0.5
    clean = means[means["level"] == 0.1].assign(level=0.0)
    clean.loc[clean["dataset"] == "data0", "accepted_favored"] = 0.49  # hardly moved
    clean.loc[clean["dataset"] != "data0", "accepted_favored"] = 0.4
    clean.loc[clean["dataset"] == "data1", "accepted"] = 0.995  # everybody alike
    pd.concat([means, clean]).to_csv(folder / "means.csv", index=False)
    write_comparison(folder)
    atlas = Adviser.of(folder)
    advice = atlas.advise("restore")
    assert (advice.n_scenarios, advice.nothing_to_undo) == (18, 4)
    assert "In 4 of 18 scenarios there was nothing to restore" in str(advice)
    alone, to_undo = (rows_of(atlas.recommenders, "restore", kind=kind) for kind in ("all", "to_undo"))
    assert alone["n_scenarios"].unique().tolist() == [18]
    assert to_undo["n_scenarios"].unique().tolist() == [14]
    assert to_undo["n_clusters"].unique().tolist() == [7]
    assert set(atlas.recommenders["scenarios"][atlas.recommenders["goal"] == "equalize"]) == {"all"}
    assert atlas.advise("equalize").nothing_to_undo == 0


def test_a_dose_that_was_not_run_stands_for_the_nearest(world: World) -> None:
    atlas = Adviser.of(world(by_kind))
    near, run = atlas.advise(bias="label", dose=0.11), atlas.advise(bias="label", dose=0.1)
    told = "No dose of 0.11 was run: the numbers are of the nearest, 0.1."
    assert near.sentences == (*run.sentences[:-1], told, run.sentences[-1])
    assert near.technique == run.technique


def test_a_loss_is_not_told_as_a_gain(world: World) -> None:
    def worse(technique: str, kind: str, rate: float) -> float:
        return {"none": 0.0, "drop_sensitive": -0.0008}.get(technique, -0.05)

    atlas = Adviser.of(world(worse))
    assert atlas.verdicts["restore", 0.1].simple == "drop"  # a tie with doing nothing
    told = str(atlas.advise("restore"))
    assert "That widened the distance" in told
    assert "no technique is shown to help here" in told
    assert "Doing nothing was no farther here than the best on average elsewhere, leaving the group" in told
    assert "The best on average elsewhere is" not in told


def test_the_range_of_a_new_source_is_no_absurd_promise(world: World) -> None:
    def far_apart(technique: str, kind: str, rate: float) -> float:
        return 0.0 if technique == "none" else 0.9 if rate > 0.4 else -0.8

    atlas = Adviser.of(world(far_apart, 8, ONE))
    advice = atlas.advise("restore")
    assert (advice.new_low, advice.new_high) == (-1, 1)  # no gain of two distances from 0 to 1 is larger
    alike_everywhere = words_of(replace(advice, new_low=0.0, new_high=0.0), advice.question, atlas)
    assert any("All sources gain the same" in sentence for sentence in alike_everywhere)
    assert not any("between 0.000 and 0.000" in sentence for sentence in alike_everywhere)


def test_what_helps_in_general_and_harms_here_is_not_recommended_here(world: World) -> None:
    def of_labels(technique: str, kind: str, rate: float) -> float:
        return {"massaging": 0.08 if kind == "label" else -0.03}.get(technique, 0.0)

    atlas = Adviser.of(world(of_labels, 8, ONE))
    atlas.verdicts["restore", 0.1] = replace(atlas.verdicts["restore", 0.1], simple="average", by={})
    general, there, here = (atlas.advise(bias=bias) for bias in (None, "label", "selection"))
    assert {advice.technique for advice in (general, there, here)} == {"massaging"}
    assert (general.shown, there.shown, here.shown) == (True, True, False)
    assert "no technique is shown to help here" in here.sentences[0]
    assert here.record.mostly_failed


def test_numbers_of_choices_by_features_are_not_told_as_those_of_one_technique(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    atlas = Adviser.of(world(alike))
    verdict = atlas.verdicts["restore", 0.1]
    by = {name: replace(own, shown=name == "data") for name, own in verdict.by.items()}
    atlas.verdicts["restore", 0.1] = replace(verdict, by=by)
    monkeypatch.setattr(Adviser, "of", lambda _folder=None: atlas)
    by_features, by_rule = (
        str(recommend(frame, **asked)) for frame, asked in ((with_rates(0.5, 0.6), ROLES), (None, {}))
    )
    assert "sources choices so made changed the distance" in " ".join(by_features.split())
    assert "sources it changed the distance" in " ".join(by_rule.split())


def test_advice_that_passed_is_not_denied_under_limits(world: World) -> None:
    atlas = Adviser.of(world(by_kind))
    limited = str(atlas.advise(bias="label", stage="pre"))
    assert "is not shown to be better" not in limited
    assert "is better in general" in limited
    assert atlas.advise().grade == SIMPLE  # without a kind there is no advice by kind


@pytest.mark.parametrize("dose", [0.0, -0.1, 5.0])
def test_a_dose_that_is_no_gap_is_refused(world: World, dose: float) -> None:
    with pytest.raises(ExperimentError, match="no label gap"):
        Adviser.of(world(alike)).advise(dose=dose)


def test_a_technique_of_some_clusters_is_compared_on_these(tmp_path: Path) -> None:
    folder = write_atlas(tmp_path, by_kind, n_clusters=10, doses=ONE)
    means = pd.read_csv(folder / "means.csv")
    late = (means["technique"] == "threshold_optimizer") & means["dataset"].isin(["data0", "data1"])
    means.loc[means["technique"] == "threshold_optimizer", ["restoration_distance", "distance"]] -= 0.05
    means[~late].to_csv(folder / "means.csv", index=False)
    write_comparison(folder)
    advice = Adviser.of(folder).advise(stage="post")
    assert (advice.technique, advice.n_clusters) == ("threshold_optimizer", 8)
    assert advice.gain == pytest.approx(0.05, abs=0.002)


def test_numbers_say_that_doing_nothing_counts_where_a_limit_is_missed(tmp_path: Path) -> None:
    folder = write_atlas(tmp_path, alike, n_clusters=8, doses=ONE)
    means = pd.read_csv(folder / "means.csv")
    missed = means["technique"].eq("drop_sensitive") & means["dataset"].isin(["data0", "data1"])
    means["reason_restore"] = np.where(missed, "too_few", "")
    means.to_csv(folder / "means.csv", index=False)
    write_comparison(folder)
    atlas = Adviser.of(folder)
    record = atlas.records("restore", "c45")["drop_sensitive"]
    assert record.not_allowed == 0.25
    atlas.verdicts["restore", 0.1] = replace(atlas.verdicts["restore", 0.1], simple="drop", by={})
    told = str(atlas.advise("restore"))
    assert "it missed a limit such as accuracy in 25 % of their scenarios: there, doing nothing" in told


@pytest.mark.parametrize(("best", "told"), [("massaging", False), ("drop_proxies", True), ("repair", True)])
def test_a_technique_that_quick_does_not_try_by_itself_is_said(world: World, best: str, told: bool) -> None:
    atlas = Adviser.of(world(alike))
    advice = replace(atlas.advise("restore"), technique=best)
    sentences = words_of(advice, Question(), atlas)
    assert (f"only with --techniques {best}." in " ".join(sentences)) == told


@pytest.mark.parametrize(
    "more",
    [(), pytest.param(("--bias", "label", "--dose", "0.1", "--group-unknown"), marks=pytest.mark.nightly)],
)
@pytest.mark.parametrize("given", [False, True])
def test_advice_for_both_goals_has_few_lines_and_the_rest_is_one_option_away(
    given: bool,
    more: tuple[str, ...],
    here: Path,
    world: World,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    with_rates(0.5, 0.6).to_csv("people.csv", index=False)
    words = ["--atlas", str(world(alike)), *more]
    if given:
        roles = ["--label", "hired", "--favorable", "yes", "--sensitive", "sex"]  # the longest: a warning
        words = ["people.csv", *roles, *words]
    assert main(["recommend", *words]) == 0
    text = capsys.readouterr().out
    lines = text.splitlines()
    assert len(lines) <= 20  # two or three of them on the number that would help most
    assert max(map(len, lines)) <= 100
    assert all(f"- To {goal}" in text for goal in ("restore decisions", "equalize acceptance"))
    assert "Evidence: " in text
    assert "Next: betabench quick " in text
    assert main(["recommend", *words, "--full"]) == 0
    full = capsys.readouterr().out
    assert full.startswith(text)
    assert "In Python: FairClassifier(" in full or "nothing is known" in full or "not known" in full
