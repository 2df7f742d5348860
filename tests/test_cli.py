"""The smaller commands; the run itself is in test_end_to_end."""

import inspect
import json
import re
from pathlib import Path

import pandas as pd
import pytest

from benchmark.atlas.file import load_atlas
from benchmark.audit.alternation import load_alternation
from benchmark.cli import main
from benchmark.data.card import list_cards, load_card
from benchmark.declarations import kind_of
from benchmark.experiment.plan import load_experiment
from benchmark.metrics import list_families
from benchmark.network.bif import read_bif
from benchmark.techniques import list_techniques, registry

GREEDY = """
import numpy as np
from benchmark.techniques import PreProcessing, Prepared, register

@register
class Greedy(PreProcessing):
    name, summary, reference, version = "greedy", "Takes 200 MiB for a moment", "none", "1"

    def _prepare(self, train, tools):
        if len(train) > 1000:
            np.ones(200 * 2**17)
        return Prepared(train)
"""


pytestmark = pytest.mark.usefixtures("in_this_process")


@pytest.mark.parametrize(
    "command",
    [
        [],
        ["run"],
        ["quick"],
        ["new-dataset"],
        ["merge"],
        ["list"],
        ["learn"],
        ["sample"],
        ["compare"],
        ["report"],
        ["check"],
    ],
)
def test_help_shows_an_example(command: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as left:
        main([*command, "--help"])
    assert left.value.code == 0
    shown = capsys.readouterr().out
    assert "example: betabench" in shown
    assert "default: None" not in shown


def test_families_of_metrics_are_listed_with_their_members(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["list", "metrics"]) == 0
    lines = capsys.readouterr().out.partition("Families: ")[2].splitlines()[1:]
    listed = {name: members.split(", ") for name, members in (line.split(maxsplit=1) for line in lines)}
    assert listed == {family: list(names) for family, names in list_families().items()}


@pytest.mark.parametrize(
    ("option", "value"), [("--favorable", "-none"), ("--deprived", "-9,-8"), ("--drop", "-x")]
)
def test_a_value_may_begin_with_a_dash(
    option: str, value: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [f"{('-9', '-8', 'm')[i % 3]},{('-none', 'some')[i // 3 % 2]},{i % 7}" for i in range(90)]
    path = tmp_path / "a.csv"
    path.write_text("sex,y,-x\n" + "\n".join(rows) + "\n")
    given = {"--favorable": "some", "--deprived": "m", "--favored": "*", "--drop": "-x", option: value}
    if option == "--deprived":
        given["--favored"] = "m"
    typed = [text for pair in given.items() for text in pair]
    out = tmp_path / "card.toml"
    assert (
        main(["new-dataset", str(path), "--label", "y", "--sensitive", "sex", *typed, "--out", str(out)]) == 0
    )
    assert out.is_file()
    capsys.readouterr()


@pytest.mark.parametrize(
    "words", [["run", "smoke"], ["run", "smoke", "--lite"], ["run", "--lite", "mine.toml"]]
)
def test_an_experiment_without_its_option_gets_a_hint(
    words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        main(words)
    name = next(word for word in words[1:] if not word.startswith("-"))
    assert f"name an experiment with --experiment {name}" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        main(["run", "--unknown"])
    assert "--experiment --unknown" not in capsys.readouterr().err


@pytest.mark.parametrize(
    "kind", ["datasets", "techniques", "metrics", "classifiers", "bias-kinds", "experiments"]
)
def test_lists_as_text_and_as_json(kind: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["list", kind]) == 0
    lines = capsys.readouterr().out.partition("\nFamilies: ")[0].splitlines()
    assert main(["list", kind, "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    named = [line.split()[0] for line in lines if line and not line.endswith(":")]  # without headings
    assert named == [row["name"] for row in rows]
    assert all(isinstance(row["summary"], str) and row["summary"] for row in rows)


def test_lists_say_what_the_checked_declarations_say(capsys: pytest.CaptureFixture[str]) -> None:
    main(["list", "datasets", "--json"])
    for row, card in zip(json.loads(capsys.readouterr().out), list_cards(), strict=True):
        rows = "" if card.rows is None else f" ({card.rows:,} rows)"
        assert row.pop("summary") == card.title + rows
        assert row.pop("known_problems") == list(card.known_problems)
        groups = (row.pop("deprived_group"), card.deprived_group)  # each a state, or several in any order
        states, same = ({group} if isinstance(group, str) else {*group} for group in groups)
        assert states == same
        assert row == {name: getattr(card, name) for name in row}
    main(["list", "experiments", "--json"])
    for row in json.loads(capsys.readouterr().out):
        load = {None: load_experiment, "alternation": load_alternation, "atlas": load_atlas}[
            kind_of(row["name"])
        ]
        assert row["summary"] == load(row["name"]).title  # type: ignore[operator]


@pytest.mark.parametrize("ending", ["csv", "parquet", "arff"])
def test_a_sample_is_written_with_how_it_was_made(ending: str, tmp_path: Path) -> None:
    out = tmp_path / f"biased.{ending}"
    words = [
        "sample",
        "--dataset",
        "adult",
        "--beta",
        "0.5",
        "--rows",
        "3000",
        "--seed",
        "1",
        "--out",
        str(out),
    ]
    assert main(words) == 0
    facts = json.loads((tmp_path / f"biased.{ending}.json").read_text())
    assert facts["beta"] == 0.5
    assert facts["rows"] == 3000
    assert len(facts["acting_edits"]) == 2
    assert facts["expected"]["discrimination"] == pytest.approx(0.36, abs=0.01)
    first = out.read_bytes()
    assert main(words) == 0
    if ending != "parquet":
        assert out.read_bytes() == first
    schema = load_card("adult").schema()
    if ending == "csv":
        frame = pd.read_csv(out, keep_default_na=False)
    elif ending == "parquet":
        frame = pd.read_parquet(out)
    else:
        from scipy.io import arff

        records, meta = arff.loadarff(out)
        frame = pd.DataFrame(records).map(bytes.decode)
        assert tuple(meta.names()) == schema.names
    assert frame.shape == (3000, 13)
    assert tuple(frame.columns) == schema.names
    for column in schema.columns:
        assert set(frame[column.name].astype(str)) <= set(column.states)
    good = frame["income"].astype(str) == ">50K"
    women = frame["sex"].astype(str) == "Female"
    measured = good[~women].mean() - good[women].mean()
    assert measured == pytest.approx(facts["sample_discrimination"])


def test_a_sample_without_bias_is_that_of_the_learned_network(tmp_path: Path) -> None:
    assert main(["sample", "--dataset", "dutch", "--out", str(tmp_path / "plain.csv")]) == 0
    facts = json.loads((tmp_path / "plain.csv.json").read_text())
    assert facts["rows"] == 60420
    assert facts["expected"]["discrimination"] == pytest.approx(0.2985, abs=5e-5)


def test_a_bias_edit_can_be_given(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["sample", "--dataset", "adult", "--beta", "1", "--rows", "500", "--out", str(tmp_path / "a.csv")]
    assert main([*words, "--edit", "relationship=Husband:favor"]) == 0
    assert json.loads((tmp_path / "a.csv.json").read_text())["edits"] == [
        "P(y- | relationship = Husband) × (1 - β)"
    ]
    assert main(["sample", "--dataset", "compas_leaky", "--beta", "1", "--out", str(tmp_path / "b.csv")]) == 0
    assert "no bias was planted" in capsys.readouterr().out


@pytest.mark.real_data
def test_bias_is_planted_in_real_rows(
    data_dir: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out, asked = tmp_path / "a.csv", ["sample", "--dataset", "student_por", "--data-dir", str(data_dir)]
    words = [*asked, "--train", "data", "--beta", "0.5", "--out", str(out)]
    assert main([*words, "--bias", "score"]) == 0
    facts = json.loads((tmp_path / "a.csv.json").read_text())
    frame = pd.read_csv(out)
    assert len(frame) == facts["rows"] == 649
    assert "G3" not in frame
    passed = frame["passed"] == "yes"
    found = passed[frame["sex"] != "M"].mean() - passed[frame["sex"] == "M"].mean()
    assert found == pytest.approx(facts["expected"]["discrimination"])  # without noise nothing is random
    assert facts["expected"]["discrimination"] > 0.5
    assert "network" not in facts
    assert main([*words, "--bias", "malicious_selection", "--rows", "400"]) == 0
    assert json.loads((tmp_path / "a.csv.json").read_text())["rows"] == len(pd.read_csv(out)) < 400
    assert main([*words, "--bias", "borderline"]) == 0
    facts = json.loads((tmp_path / "a.csv.json").read_text())
    assert facts["sample_discrimination"] == pytest.approx(facts["expected"]["discrimination"], abs=0.1)
    near = facts["sample_digest"]
    assert main([*words, "--bias", "borderline"]) == 0
    assert json.loads((tmp_path / "a.csv.json").read_text())["sample_digest"] == near
    assert main([*words, "--edit", "school=MS"]) == 0
    assert json.loads((tmp_path / "a.csv.json").read_text())["planted"].startswith("labels turned")
    capsys.readouterr()
    assert main([*words, "--bias", "label", "--rows", "650"]) == 2
    assert "2 to 649 rows" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--dataset", "student_por", "--bias", "score"], "name its column with [score]"),
        (["--dataset", "adult", "--bias", "borderline", "--beta", "0.5"], "--train data of"),
        (["--dataset", "adlut"], "did you mean 'adult'"),
        (["--dataset", "adult", "--beta", "1.5"], "from 0"),
        (["--dataset", "adult", "--rows", "-5"], "positive integer"),
        (["--dataset", "adult", "--rows", "0"], "positive integer"),
        (["--dataset", "adult", "--edit", "sex=Female"], "required_edges"),
        (["--dataset", "adult", "--edit", "sex"], "ATTRIBUTE=GROUP"),
        (["--dataset", "adult", "--edit", "relationship=Wive"], "did you mean 'Wife'"),
        (["--dataset", "adult", "--out", "x.xlsx"], ".csv, .parquet, .arff"),
    ],
)
def test_a_sample_that_cannot_be_drawn(
    words: list[str], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = [] if "--out" in words else ["--out", str(tmp_path / "x.csv")]
    assert main(["sample", *words, *out]) == 2
    assert message in capsys.readouterr().err


@pytest.mark.real_data
def test_a_network_is_learned_to_a_file(
    data_dir: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "compas.bif"
    words = ["learn", "--dataset", "compas", "--data-dir", str(data_dir), "--out", str(out)]
    assert main([*words, "--algorithm", "exact", "--require", "sex", "two_year_recid"]) == 0
    edges = read_bif(out, load_card("compas").schema()).edges
    assert ("sex", "two_year_recid") in edges
    assert ("race", "two_year_recid") in edges
    assert "sex -> two_year_recid" in capsys.readouterr().out


def test_learning_without_data_says_where_to_get_them(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["learn", "--dataset", "dutch", "--offline"]) == 2
    assert "BETABENCH_DATA" in capsys.readouterr().err


CREDIT = """
name = "credit"
title = "Credit"
label = "repaid"
favorable_label = "1"
sensitive_feature = "sex"
deprived_group = "m"
[source]
format = "csv"
files = [{ path = "credit.csv" }]
[columns]
sex = { kind = "categorical", states = ["f", "m"] }
job = { kind = "categorical", states = ["a", "b"] }
repaid = { kind = "categorical", states = ["0", "1"] }
"""

CREDIT_EXPERIMENT = """
name = "credit"
title = "Credit"
seed = 1
repetitions = 2
betas = [0.0]
train_rows = 100
[[classifiers]]
classifier = "naive_bayes"
[[datasets]]
card = "credit.toml"
bias = [{ kind = "label" }]
[[techniques]]
technique = "none"
[[techniques]]
technique = "drop_sensitive"
"""


def test_what_is_known_before_the_start_is_said_before_the_start(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = ["id,sex,job,repaid"]
    rows += [f"{i},{'fm'[i % 2]},{'ab'[i // 2 % 2]},{int(i % 5 < (3 if i % 2 else 2))}" for i in range(200)]
    (tmp_path / "credit.csv").write_text("\n".join(rows) + "\n")
    (tmp_path / "credit.toml").write_text(CREDIT)
    (tmp_path / "credit_experiment.toml").write_text(CREDIT_EXPERIMENT)
    assert main(["learn", "--dataset", str(tmp_path / "credit.toml"), "--out", str(tmp_path / "c.bif")]) == 0
    better = (
        "the deprived group sex = 'm' is better off by 0.200 in these data: 0.600 of it have repaid = '1'"
    )
    unused = "1 column of the file is not used: id. Name them"
    learned = capsys.readouterr().out
    assert f"Note: {better}" in learned
    assert f"Note: {unused}" in learned
    words = [
        "run",
        "--experiment",
        str(tmp_path / "credit_experiment.toml"),
        "--workers",
        "1",
        "--no-figures",
    ]
    assert main([*words, "--output", str(tmp_path / "out")]) == 0
    before, _, _ = capsys.readouterr().out.partition("0 of 4 cells")
    assert f"Note: credit: {better}" in before
    assert f"Note: credit: {unused}" in before
    assert "Note: 2 samples of each kind show no technique to help, only candidates" in before
    facts = json.loads((tmp_path / "out" / "manifest.json").read_text())["datasets"]["credit"]
    assert facts["warning"] is None
    assert len(facts["notes"]) == 1
    assert facts["notes"][0].startswith(better)


def test_a_run_is_compared_with_what_was_published(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    output = str(tmp_path / "run")
    words = ["run", "--datasets", "compas_leaky", "--techniques", "none", "drop_sensitive", "reweighing"]
    words += ["--betas", "0", "--repetitions", "2", "--workers", "1", "--offline", "--no-figures"]
    assert main([*words, "--output", output]) == 0
    assert main(["compare", output]) == 2
    assert "--allow-embedded" in capsys.readouterr().err
    assert not (tmp_path / "run" / "comparison.csv").exists()
    assert main(["compare", output, "--allow-embedded", "--no-figures"]) == 0
    shown = capsys.readouterr().out
    assert "8 of 652" in shown
    assert "EMBEDDED NETWORK, NOT REAL DATA" in shown
    rows = pd.read_csv(tmp_path / "run" / "comparison.csv")
    compared = rows[rows["ours"].notna()]
    assert set(compared["our_technique"]) == {"drop_sensitive", "reweighing"}
    assert set(compared["our_dataset"]) == {"compas_leaky:embedded"}
    assert (compared["difference"].abs() < 0.1).all()


def test_a_comparison_of_nothing_says_what_is_missing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["compare", str(tmp_path / "nowhere")]) == 2
    assert "There is no folder" in capsys.readouterr().err
    assert main(["compare", str(tmp_path)]) == 2
    assert "manifest.json cannot be read" in capsys.readouterr().err


def test_a_technique_is_checked_and_a_fit_of_it_measured(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["check", "repair", "--parameters", "level=0.5", "repair_label=true", "variant=feldman"]
    assert main([*words, "--classifier", "naive_bayes"]) == 0
    first, *lines, last = capsys.readouterr().out.splitlines()
    assert first.startswith("repair (level=0.5, repair_label=True, ")
    assert last == "keeps the rules: repair"
    assert "- passed: names irrelevant" in lines
    assert "- not applicable: row order irrelevant: it is randomized" in lines
    assert re.search(r"fit on 50,000 rows × 12 columns: \d+\.\d\d s", "\n".join(lines))


def test_a_file_of_the_package_is_checked_under_the_names_that_it_registered(
    capsys: pytest.CaptureFixture[str],
) -> None:
    file = inspect.getfile(list_techniques()["label_bias_weights"])
    assert main(["check", file, "--classifier", "naive_bayes", "--json"]) == 0
    (report,) = json.loads(capsys.readouterr().out)
    assert (report["technique"], report["verdict"]) == ("label_bias_weights", "keeps the rules")


@pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="needs Linux")
def test_the_memory_of_a_fit_is_that_of_its_peak(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "greedy.py"
    file.write_text(GREEDY)
    list_techniques()
    known = dict(registry._REGISTRY._items)
    try:
        assert main(["check", str(file), "--classifier", "naive_bayes", "--json"]) == 0
    finally:
        registry._REGISTRY._items = known
    (report,) = json.loads(capsys.readouterr().out)
    assert 190 < report["fit"]["memory"] < 260
    assert report["fit"]["seconds"] > 0


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "There is nothing to check"),
        (["masaging"], "did you mean 'massaging'"),
        (["nowhere.py"], "no such file"),
        (["repair", "--parameters", "level"], "KEY=VALUE"),
        (["repair", "--parameters", "level=2"], "a number in [0, 1]"),
        (["repair", "none", "--parameters", "level=1"], "no parameters at all"),
        (["none", "--classifier", "c54"], "did you mean 'c45'"),
    ],
)
def test_what_cannot_be_checked(words: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", *words]) == 2
    assert message in capsys.readouterr().err


def test_a_wheel_says_that_papers_are_compared_in_a_clone(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def absent(name: str) -> None:
        raise ModuleNotFoundError(f"No module named {name!r}", name=name.partition(".")[0])

    monkeypatch.setattr("benchmark.cli.common.import_module", absent)
    assert main(["compare", "results/paper"]) == 2
    assert "clone the repository" in capsys.readouterr().err
