"""What takes long is said before it begins, and is not done where nothing needs it."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from benchmark.data.source import Sources
from benchmark.experiment import prepared as prepared_module
from benchmark.experiment.expand import expand
from benchmark.experiment.plan import Experiment
from benchmark.experiment.pool import Finished
from benchmark.experiment.prepare import prepare_experiment
from benchmark.experiment.prepared import PreparedExperiment
from benchmark.figures.lists import run_figures
from benchmark.report.folder import write_run_folder
from benchmark.runs.describe import describe_run
from tests.helpers.engines import InProcess
from tests.helpers.protocol import computed
from tests.helpers.visits import write_card

EDIT = [{"kind": "cpt", "edits": [{"attribute": "sex", "group": "F"}]}]


def prepared(card: Path, lines: list[str], **fields: Any) -> PreparedExperiment:
    given: dict[str, Any] = {
        "datasets": [{"card": str(card), "bias": ["label"]}],
        "techniques": ["none", "drop_sensitive"],
        "betas": [0, 0.5],
        "paired_betas": True,
        "repetitions": 2,
        **fields,
    }
    return prepare_experiment(expand(Experiment(**given)), Sources(offline=True), say=lines.append)


def test_real_rows_to_train_on_need_no_network(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def learned(*_: object, **__: object) -> None:
        raise AssertionError("a network is learned")

    card, lines = write_card(tmp_path), list[str]()
    monkeypatch.setattr(prepared_module, "learn_network", learned)
    for plan in ({"holdout": 0.3}, {"folds": 3}):
        made = prepared(card, lines, train="data", **plan)
        assert not describe_run(made).datasets[0].network.digest
    assert not [line for line in lines if "network" in line]
    for plan in ({}, {"holdout": 0.3}):
        with pytest.raises(AssertionError, match="a network is learned"):
            prepared(card, lines, datasets=[{"card": str(card), "bias": EDIT}], **plan)
        assert lines[-1] == "visits: learning the network of 5 columns"


def test_its_folder_has_no_drawing_of_a_network(tmp_path: Path) -> None:
    made = prepared(write_card(tmp_path, people=60), [], train="data", folds=2)
    folder = write_run_folder(tmp_path / "run", made, computed(made), figures=False)
    assert not [name for name, _ in run_figures(folder.run) if name.startswith("network/")]


class _Late(InProcess):
    """An engine whose cells of one technique take too long."""

    def run(self, *given: Any) -> Iterator[list[Finished]]:
        for finished in super().run(*given):
            yield [
                one._replace(
                    result=replace(one.result, status="timeout", reason="too long", metrics=(), seconds=300.0)
                )
                if one.cell.technique == "drop_sensitive"
                else one
                for one in finished
            ]


def test_a_technique_that_takes_too_long_is_named_once_and_tried_again_with_more_time(tmp_path: Path) -> None:
    card, path, lines = write_card(tmp_path), tmp_path / "a.sqlite", list[str]()
    given: dict[str, Any] = {"train": "data", "holdout": 0.3}
    made = prepared(card, [], **given)
    outcome = computed(made, path, engine=_Late(1), say=lines.append)
    assert outcome.failures == {"timeout": 4}  # no cell is left out
    (line,) = lines
    assert "2 cells of drop_sensitive with the classifier c45" in line
    assert "300 seconds" in line
    assert computed(made, path).computed == 0
    again = computed(prepared(card, [], time_limit=301, **given), path)
    assert (again.computed, again.failures) == (4, {})
