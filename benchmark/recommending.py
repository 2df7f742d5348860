"""Advice on techniques from the shipped atlas: ``benchmark.recommend``, and the command of that name."""

import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd

from benchmark.atlas.adviser import (
    WORDS,
    Advice,
    Adviser,
    Stage,
    condition_of,
    few_digits,
    name_of,
)
from benchmark.atlas.features import data_features
from benchmark.columns import BLIND, RESTORE
from benchmark.data.draft import Draft, draft
from benchmark.data.reading import typed
from benchmark.experiment.first_file import TECHNIQUES as TRIED_BY_QUICK
from benchmark.file_options import FileOptions
from benchmark.known_bias import look_again
from benchmark.text.terminal import as_text
from benchmark.text.words import few
from benchmark.wording import render_values

_NO_FILE = FileOptions(label="COLUMN", favorable="VALUE", sensitive="COLUMN")


def recommend(
    data: pd.DataFrame | str | Path | None = None,
    *,
    goal: str = RESTORE,
    bias: str | None = None,
    dose: float | None = None,
    knows: str = BLIND,
    stage: Stage | None = None,
    classifier: str = "c45",
    group_known: bool = True,
    label: object = None,
    favorable: object = None,
    sensitive: object = None,
    deprived: object = None,
    atlas: str | Path | None = None,
    **reading: Any,
) -> Advice:
    """Return which technique to try, what it did on other data, and how far that can be trusted.

    ``print`` shows the advice in few lines; its ``sentences`` have all that is known.

    Nothing is trained. The advice comes from the shipped atlas, and follows the rule that was written before
    its run: advice by kind of bias or by features of the data is given only where it was shown to be better.

    Parameters
    ----------
    data : DataFrame, str or Path, optional
        Rows with the feared bias. If no source of the atlas is like them, the answer is not known: the
        deprived group is ahead by its labels, for one, or a share lies outside of the sources' range. Their
        features choose the technique if advice from features has passed the rule.
    goal : {"restore", "equalize"}, default "restore"
        Decide as without the bias, or accept both groups equally often.
    bias : str, optional
        The feared kind: "label", "borderline", "selection" or "under_representation_label".
    dose : float, optional
        The label gap that it may have added; 0.1 unless given.
    knows : str, default "nothing"
        What is known of it: a state of knowledge of the atlas, such as "gap" or "refusals_50". Told
        nothing, the text has all of them.
    stage : {"pre", "in", "post"}, optional
        What may be changed: the data, the training, or the predictions.
    classifier : str, default "c45"
        The learner.
    group_known : bool, default True
        Whether the group of new people is known when they are decided on.
    label, favorable, sensitive, deprived : optional
        Columns and values of ``data``, as in :func:`benchmark.quick`.
    atlas : str or Path, optional
        The folder of another atlas.
    **reading
        Further :class:`~benchmark.file_options.FileOptions` on ``data``, such as ``missing`` and ``drop``.

    Raises
    ------
    BetabenchError
        If a name is none of the atlas's, or the data cannot be read.

    Examples
    --------
    >>> print(recommend(goal="restore", bias="label", dose=0.1))  # doctest: +SKIP
    """
    drafted, named = None, dict[str, Any]()
    if data is not None:
        roles = {"label": label, "favorable": favorable, "sensitive": sensitive, "deprived": deprived}
        named["file_options"] = FileOptions.of(**roles, **reading)
        named["file"] = "FILE" if isinstance(data, pd.DataFrame) else str(data)
        drafted = draft(data, named["file_options"])
    limits: Any = {"stage": stage, "learner": classifier, "group_known": group_known}
    text, [advice] = advised([goal], drafted, atlas, knows=knows, bias=bias, dose=dose, **limits, **named)
    warnings = () if drafted is None else drafted.reading.warnings
    return replace(advice, text=as_text(text), sentences=(*warnings, *advice.sentences))


def advised(
    goals: Sequence[str],
    drafted: Draft | None,
    atlas: str | Path | None = None,
    *,
    file: str = "FILE",
    file_options: FileOptions = _NO_FILE,
    knows: str = BLIND,
    **question: Any,
) -> tuple[str, list[Advice]]:
    """Return advice for some goals, before it as Markdown: what to try, how sure that is, what to do next.

    ``drafted`` has a user's rows. Commands name their ``file``, with what was said about it. ``question`` are
    other parameters of :meth:`~benchmark.atlas.adviser.Adviser.advise`.
    """
    features = None if drafted is None else data_features(drafted.rows, drafted.persons)
    adviser = Adviser.of(None if atlas is None else Path(atlas))
    advices = [adviser.advise(goal, features=features, knows=knows, **question) for goal in goals]
    untold = knows == BLIND and RESTORE in [advice.goal for advice in advices]
    told = adviser.advise_told(features=features, **question) if untold else []
    named = [advice.technique for advice in advices if advice.technique not in ("", *TRIED_BY_QUICK)]
    more = f" --techniques {' '.join(dict.fromkeys(named))}" if named else ""
    known = [advice for advice in advices if advice.technique] or advices
    asked = advices[0].question
    assert asked is not None
    seen = untold and asked.bias != "selection"  # where people are missing, no refusal is wrong
    text = render_values(
        "recommend",
        advices=advices,
        read=drafted and drafted.reading,
        question=asked,
        condition=condition_of(asked, adviser.tellings.get(knows)),
        told=told,
        tellings=adviser.tellings,
        evidence=WORDS["grade"][known[0].grade],
        words=WORDS,
        digits=few_digits,
        name_of=name_of,
        few=few,
        inf=math.inf,
        command=advices[0].usage if knows != BLIND else typed("quick", file, file_options) + more,
        again=look_again(drafted, file, file_options, str(asked.learner), asked.dose) if seen else "",
    )
    return text, advices
