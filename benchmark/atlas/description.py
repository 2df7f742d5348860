"""What the tables of an atlas hold, for readers and for programs: meanings of columns, and Croissant."""

from __future__ import annotations

import hashlib
import lzma
from collections.abc import Mapping
from pathlib import Path

from benchmark import RELEASED
from benchmark.atlas.claims import CLAIM_COLUMNS
from benchmark.atlas.comparison import CHOICE_COLUMNS, CHOICES, CLAIMS, RECOMMENDERS, VARIANCE
from benchmark.atlas.features import FEATURE_COLUMNS
from benchmark.atlas.file import Atlas
from benchmark.atlas.means import MEAN_COLUMNS
from benchmark.atlas.regret import REGRET_COLUMNS
from benchmark.atlas.tables import CELL_TABLE, CELLS, FEATURES, MEANS, TEXTS
from benchmark.atlas.variance import VARIANCE_COLUMNS
from benchmark.text.croissant import SUFFIX, DescribedColumn, DescribedTable, croissant
from benchmark.text.writing import PACKED, plain_or_packed, write_json

TABLES: Mapping[str, tuple[str, ...]] = {
    RECOMMENDERS: REGRET_COLUMNS,
    CHOICES: CHOICE_COLUMNS,
    VARIANCE: VARIANCE_COLUMNS,
    CLAIMS: CLAIM_COLUMNS,
    MEANS: MEAN_COLUMNS,
    FEATURES: FEATURE_COLUMNS,
    CELLS: CELL_TABLE,
}
"""Columns of the tables by their files."""

MEANINGS: Mapping[str, str] = {
    "version": "version of the atlas",
    "part": "experiment in the atlas file; of equal levels in features.csv the first part counts",
    "dataset": "data, an edition of a card",
    "card": "card of the dataset",
    "cluster": "independent group of datasets",
    "bias": "kind of planted bias",
    "hidden": "label gap that was planted first and is taken for the original; 0 for none",
    "level": "dose (added label gap), or beta by `unit`; in choices.csv of `planted` the hidden gap",
    "unit": "`dose` or `beta`",
    "beta": "solved level of the bias; in cells.csv the planned level",
    "pooled": "0 where a level is not compared with other datasets",
    "classifier": "learner",
    "test": "test rows: `original`, `biased`, or `truth` before hidden bias",
    "technique": "technique; `none` does nothing",
    "half": "odd or even splits",
    "repetition": "split, numbered from 0",
    "n": "splits with a result",
    "missing": "splits without one",
    "restoration_distance": "mean |difference| of acceptance rates from the clean model's; 0 is ideal",
    "distance": "mean of |discrimination|; 0 is ideal",
    "discrimination": "acceptance rate of the favored group minus the deprived group's",
    "accuracy": "share of test labels that are predicted",
    "accepted": "share of people that are accepted",
    "accepted_deprived": "the same of the deprived group",
    "accepted_favored": "the same of the favored group",
    "agreement": "share of people with the clean model's decision",
    "given_back": "share of the places that bias took which the technique gives back",
    "paid": "share of people accepted by the clean and the biased model whom the technique refuses",
    "in_their_place": "share of people refused by the clean model whom the technique accepts",
    "given_back_by_chance": "what a refit of doing nothing on other rows with this bias gives back",
    "allowed_restore": "1 if the technique meets the limits of the rule to restore",
    "reason_restore": "the limit that it misses",
    "allowed_equalize": "1 if the technique meets the limits to equalize",
    "reason_equalize": "the limit that it misses",
    "rows": "training rows",
    "columns": "features, the sensitive one included",
    "share_deprived": "share of the deprived group",
    "rate_deprived": "share of favorable labels in the deprived group",
    "rate_favored": "share of favorable labels in the favored group",
    "group_auc": "AUC with which the other features tell the group: naive Bayes, cross-fitted",
    "label_auc": "AUC with which the features tell the label",
    "strongest_proxy": "largest association (Cramer's V) of a feature with the group",
    "goal": "`restore` or `equalize`",
    "scenarios": "`all` with planted doses, `to_undo` with something to restore, `planted` with hidden bias",
    "clusters": "`main`, or `finer` for the second line",
    "recommender": "rule that chooses a technique",
    "n_clusters": "number of clusters",
    "n_scenarios": "number of scenarios",
    "regret": "mean distance to the goal of the choices, less the oracle's",
    "regret_low": "lower end of its 95 % interval over clusters",
    "regret_high": "upper end",
    "share_of_gain": "gain over doing nothing, as a share of the oracle's gain",
    "share_low": "lower end of its 95 % interval",
    "share_high": "upper end",
    "worse_than_nothing": "share of scenarios with a choice farther from the goal than doing nothing",
    "against": "other recommender of a contrast; empty in a row on one recommender",
    "difference": "regret of the other recommender minus this one's",
    "difference_low": "lower end of its 95 % interval",
    "difference_high": "upper end",
    "p": "p-value of the exact sign-flip test over clusters, two-sided",
    "p_corrected": "the same after Bonferroni; primary contrasts are not corrected",
    "detectable": "smallest difference that a t-test would find in four of five such sets of clusters",
    "chosen": "chosen techniques; several are separated by blanks",
    "score": "distance to the goal of the choice; of doing nothing where the choice is not allowed",
    "nothing": "the same of doing nothing",
    "drop": "the same of leaving the group out",
    "oracle": "the same of the best technique on the other half of the splits",
    "effect": "factor, or a pair of factors",
    "share": "share of the variance of gains over doing nothing",
    "n_levels": "values of the factors",
    "n_cells": "combinations of all factors",
    "claim": "name of a claim of the atlas file",
    "text": "its words, written before the run",
    "fate": "held, refuted or not decided; empty without the parts that decide it",
    "evidence": "numbers that decide it, with intervals of 95 %",
}
"""Meanings of columns by their names."""


def write_description(folder: Path, atlas: Atlas) -> Path:
    """Write the Croissant description of the tables that a folder has, and return its path."""
    tables = [
        DescribedTable(
            path,
            [DescribedColumn(name, MEANINGS[name], _kind(name)) for name in columns],
            Path(file).stem,
        )
        for file, columns in TABLES.items()
        if (path := plain_or_packed(folder / file)).is_file()
    ]
    description = croissant(
        tables,
        name=f"betabench_{atlas.name}",
        description=f"{atlas.title} Tables of the betabench atlas, version {atlas.version}.",
        license_text="https://spdx.org/licenses/MIT.html",
        citation=f"The betabench developers ({RELEASED[:4]}). The betabench atlas, version {atlas.version}.",
        version=atlas.version,
        published=RELEASED,
        url="",
        responsible={
            "dataCollection": "Computed by betabench from public datasets with planted bias; see atlas.json.",
            "dataBiases": [
                "Bias was planted on purpose. What bias the sources had before is unknown.",
                "The datasets are the usual ones of fairness research, most of them from the United States.",
            ],
            "personalSensitiveInformation": ["No rows of persons: means over groups of persons alone."],
            "dataUseCases": "To compare fairness techniques and advice on data that advice has not seen.",
            "dataLimitations": "Few independent groups of datasets. People's bias may be of another kind.",
        },
    )
    return write_json(folder / f"{atlas.name}{SUFFIX}", description)


def tables_digest(folder: Path) -> str:
    """Return the SHA-256 of the tables in a folder, as 64 hexadecimal digits; packing does not count."""
    digest = hashlib.sha256()
    for file in TABLES:
        path = plain_or_packed(folder / file)
        content = path.read_bytes()
        digest.update(file.encode() + (lzma.decompress(content) if path.suffix == PACKED else content))
    return digest.hexdigest()


def _kind(name: str) -> str:
    if name in TEXTS:
        return "sc:Text"
    return "sc:Integer" if name in _COUNTS else "sc:Float"


_COUNTS = frozenset(
    {"pooled", "repetition", "n", "missing", "allowed_restore", "allowed_equalize"}
    | {"n_clusters", "n_scenarios", "n_levels", "n_cells"}
)
