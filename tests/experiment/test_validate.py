"""All that is wrong with an experiment is said at once, names and parameters included."""

from pathlib import Path

import pytest

from benchmark.errors import BetabenchError, ExperimentError, TechniqueError, UnknownNameError
from benchmark.experiment.expand import check_experiment, load_for_run, narrow
from benchmark.experiment.plan import load_experiment

WRONG = """
name = "small"
title = "Small"
seed = 7
repetitions = 2
betas = [0, 0.5]
[[datasets]]
card = "adlt"
bias = [{ kind = "lable" }]
[[datasets]]
card = "adult"
strata = "agee"
bias = [{ edits = [{ attribute = "relationshp", group = "Wife" }, { attribute = "sex", group = "Man" }] }]
parameters.repair = { levle = 1.0 }
[[techniques]]
technique = "none"
[[techniques]]
technique = "repair"
name = "half"
parameters = { level = 1.5, lvl = 2 }
[[techniques]]
technique = "my_own"
[[classifiers]]
classifier = "c46"
[[classifiers]]
classifier = "c45"
parameters = { size = 3 }
"""

NAMES = [
    "technique 'half': The technique 'repair' has no parameter 'lvl'",
    "technique 'my_own': There is no technique called 'my_own'",
    "classifier 'c46': There is no classifier called 'c46'",
    "classifier 'c45': The classifier 'c45' has no parameter 'size'",
    "dataset 'adlt': There is no dataset called 'adlt'",
    "dataset 'adlt', bias 'lable': There is no bias kind called 'lable'",
    "dataset 'adult', parameters: The technique 'repair' has no parameter 'levle'",
    "dataset 'adult', bias 'cpt': There is no column called 'relationshp'",
    "dataset 'adult', strata: There is no column called 'agee'",
]


def error_of(folder: Path, text: str, *plugins: str) -> BetabenchError:
    file = folder / "e.toml"
    file.write_text(text)
    with pytest.raises(BetabenchError) as caught:
        load_for_run(file, plugins)
    return caught.value


def lines_of(error: BetabenchError) -> list[str]:
    return [line.strip() for line in str(error).splitlines()[1:]]


def assert_named(lines: list[str], starts: list[str]) -> None:
    assert len(lines) == len(starts), lines
    for line, start in zip(sorted(lines), sorted(starts), strict=True):
        assert line.startswith(start)


def test_all_wrong_names_and_parameters_are_one_error(tmp_path: Path) -> None:
    error = error_of(tmp_path, WRONG)
    assert isinstance(error, ExperimentError)
    assert "'small' breaks 9 rules" in error.what
    assert_named(lines_of(error), NAMES)
    assert "--plugin" in str(error.remedy)


def test_one_wrong_name_is_an_error_of_its_own_kind() -> None:
    smoke = load_experiment("smoke")
    check_experiment(smoke)
    (technique,) = (t for t in smoke.techniques if t.technique == "none")
    wrong = technique.model_copy(update={"parameters": {"level": 1}})
    with pytest.raises(TechniqueError, match="has no parameter 'level'"):
        check_experiment(smoke.model_copy(update={"techniques": (wrong,)}))
    unknown = technique.model_copy(update={"technique": "nun"})
    with pytest.raises(UnknownNameError, match="registered by a plugin"):
        check_experiment(smoke.model_copy(update={"techniques": (unknown,)}))


def test_of_part_of_a_file_only_that_part_is_checked(tmp_path: Path) -> None:
    file = tmp_path / "e.toml"
    file.write_text(
        WRONG.split("[[classifiers]]")[0].replace("bias = [{ edits", 'bias = [{ kind = "label" }]\n#')
    )
    part = narrow(load_experiment(file), datasets=["adult"], techniques=["none"])
    with pytest.raises(ExperimentError, match="breaks 2 rules"):
        check_experiment(part)
    sound = part.datasets[0].model_copy(update={"parameters": {}, "strata": None})
    check_experiment(part.model_copy(update={"datasets": (sound,)}))


def test_repeated_and_absent_names_are_said_together(tmp_path: Path) -> None:
    text = WRONG.replace('strata = "agee"', 'baseline = "nun"\ntechniques = ["halb"]').replace(
        'technique = "my_own"', 'technique = "none"'
    )
    lines = lines_of(error_of(tmp_path, text))
    assert "techniques: the name 'none' is used twice; give each its own name" in lines
    assert any("'adult' asks for 'halb'" in line for line in lines)
    assert any("baseline 'nun' of 'adult'" in line for line in lines)


@pytest.mark.parametrize(("beta", "hint"), [(25.0, "write 0.25 for 25 %"), (-1.0, None), (250.0, None)])
def test_a_level_in_percent_on_the_command_line_is_explained(beta: float, hint: str | None) -> None:
    with pytest.raises(ExperimentError) as caught:
        narrow(load_experiment("smoke"), betas=[0.0, beta])
    assert caught.value.remedy == hint
