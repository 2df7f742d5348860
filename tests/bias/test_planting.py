"""Steps one after another: what they make of real rows and of samples, and what is expected of them."""

import numpy as np
import pytest
from pydantic import ValidationError

from benchmark.bias import BiasKind, Chances, Rows, Score, by_label, list_bias_kinds, make_bias, make_step
from benchmark.bias.base import BiasEdit
from benchmark.bias.planting import Bias, Expected
from benchmark.conformance import check_bias, example_of, example_table
from benchmark.data.card_parts import NetworkSettings
from benchmark.data.table import Schema, Table
from benchmark.errors import BetabenchError, BiasError, UnknownNameError
from benchmark.experiment.entries import BiasEntry
from benchmark.experiment.prepared import describe_bias
from benchmark.network.learn import learn_network
from benchmark.network.model import Network
from benchmark.runs.manifest import PlantedBias

THREE = make_bias(
    make_step("under_representation", {"keep_favorable": "1 - 0.5 * beta"}),
    make_step("label", {"rate": "0.5 * beta"}),
    make_step("measurement", {"column": "skill"}),
)


@pytest.fixture(scope="module")
def network() -> Network:
    return learn_network(example_table(5000), NetworkSettings(), required_edges=(("sex", "label"),))


@pytest.mark.parametrize("name", list_bias_kinds())
def test_every_kind_conforms(name: str) -> None:
    results = check_bias(example_of(list_bias_kinds()[name]))
    assert [r for r in results if r.status == "failed"] == []
    assert sum(r.status == "passed" for r in results) >= 5


def test_a_composition_conforms() -> None:
    results = check_bias(THREE)
    assert [r for r in results if r.status == "failed"] == []


def draw(bias: Bias, rows: Rows, beta: float, seed: int = 1) -> Rows:
    return bias.plant_in_rows(rows, beta, np.random.default_rng(seed))


def test_the_same_person_is_turned_first() -> None:
    """With the same random numbers, what is wrong at a small beta is wrong at a greater one."""
    rows = Rows.of(example_table(5000))
    low, high = (draw(make_bias("label"), rows, beta).table.y != rows.table.y for beta in (0.2, 0.6))
    assert low.any()
    assert high[low].all()


def test_order_is_meaning() -> None:
    """Labels turned before favorable rows are left out: fewer are left out than the other way round."""
    rows = Rows.of(example_table(20_000))
    turn, leave = make_step("label", {"rate": 0.5}), make_step("selection", {"rate": 0.5})
    orders = (make_bias(turn, leave), make_bias(leave, turn))
    first, second = (bias.expected_in_rows(rows, 1.0) for bias in orders)
    assert first.kept > second.kept
    deprived = rows.deprived.mean()
    rate = rows.table.y[rows.deprived].mean()
    assert first.kept == pytest.approx(1 - deprived * rate * 0.25)
    assert second.kept == pytest.approx(1 - deprived * rate * 0.5)


def test_expected_values_by_hand() -> None:
    rows = Rows.of(example_table(2000))
    favored, deprived = rows.table.y[~rows.deprived].mean(), rows.table.y[rows.deprived].mean()
    both = make_bias(make_step("under_representation"), make_step("label", {"rate": 0.25}))
    kept = 0.4 * deprived / (0.4 * deprived + 1 - deprived)
    expected = both.expected_in_rows(rows, 0.6)
    assert expected.discrimination == pytest.approx(favored - 0.75 * kept)
    assert expected.error == 0
    noise = make_bias("label_noise").expected_in_rows(rows, 0.5)
    assert noise.discrimination == pytest.approx((favored - deprived) * 0.5)


def test_what_later_steps_see_of_recorded_groups_is_simulated() -> None:
    rows = Rows.of(example_table(20_000))
    bias = make_bias("sensitive_noise", "label")
    expected = bias.expected_in_rows(rows, 0.8)
    assert 0 < expected.error < 0.01
    found = draw(bias, rows, 0.8)
    y = found.table.y
    assert y[~found.deprived].mean() - y[found.deprived].mean() == pytest.approx(
        expected.discrimination, abs=0.03
    )


def test_equation_4_on_real_rows_turns_labels_alone() -> None:
    rows = Rows.of(example_table(20_000))
    edits = (BiasEdit("sex", "women"), BiasEdit("sex", "men", "favor"))
    after = draw(make_bias(make_step("cpt", {"edits": edits})), rows, 0.5).table
    label, before = after.schema.label_index, rows.table
    np.testing.assert_array_equal(np.delete(after.codes, label, 1), np.delete(before.codes, label, 1))
    sex = before.codes[:, before.schema.index("sex")]
    assert after.y[(sex == 1) & before.y].mean() == pytest.approx(0.5, abs=0.03)
    assert not after.y[(sex == 1) & ~before.y].any()
    assert after.y[(sex == 0) & ~before.y].mean() == pytest.approx(0.5, abs=0.03)
    assert (after.y == before.y)[sex == 2].all()


def test_a_score_is_lowered_and_cut_anew() -> None:
    table = example_table(5000)
    values = np.where(table.y, 10.0, 4.0) + np.arange(len(table)) % 5
    rows = Rows.of(table, Score(values, threshold=10.0, half_range=5.0))
    after = draw(make_bias("score"), rows, 0.4).table
    np.testing.assert_array_equal(after.y, values - 2.0 * table.deprived >= 10)
    noisy = make_bias(make_step("score", {"noise": 0.1}))
    assert draw(noisy, rows, 0.0).table.codes is table.codes
    assert (draw(noisy, rows, 0.4).table.y != after.y).any()
    with pytest.raises(
        BiasError, match=r"needs the number behind the label.*What to do: name its column with"
    ):
        make_bias("score").plant_in_rows(Rows.of(table), 0.4, np.random.default_rng(1))


def test_missing_values_at_random_given_others_and_not_at_random() -> None:
    table = example_table(5000)
    skill, sex = (table.codes[:, table.schema.index(name)] for name in ("skill", "sex"))
    given = {"column": "skill", "group": {"sex": "others"}, "states": ["a", "b", "c"]}
    after = draw(make_bias(make_step("missing", given)), Rows.of(table), 1.0).table
    lost = after.codes[:, after.schema.index("skill")] == after.schema.column("skill").code("missing")
    np.testing.assert_array_equal(lost, (sex == 2) & (skill <= 2))
    again = draw(make_bias(make_step("missing", {**given, "state": "g"})), Rows.of(table), 1.0).table
    assert again.schema == table.schema


def test_rows_to_test_on_are_observed_alike(network: Network) -> None:
    test = example_table(500, seed=9)
    bias = make_bias(make_step("omitted", {"columns": ["noise"]}), "label")
    assert bias.records_anew
    seen = bias.observe(test, 0.5, np.random.default_rng(1))
    assert seen.schema.names == ("skill", "sex", "proxy", "label")
    np.testing.assert_array_equal(seen.y, test.y)
    sample = bias.plant(network, 0.5).draw(200, np.random.default_rng(1))
    assert sample.schema == seen.schema
    assert not make_bias("label").records_anew


@pytest.mark.parametrize(
    ("step", "parameters", "said"),
    [
        ("random_selection", {"rate": "beta"}, "leaves no rows of the deprived group"),
        ("random_selection", {"rate": 1, "group": "all"}, "leaves out nearly all rows"),
        ("label", {"rate": "beta", "group": "all"}, "leaves only one label"),
        ("measurement", {"column": "proxy", "shift": 1}, "has no order"),
        ("under_representation", {"keep_favorable": "1 + beta"}, r"'1 \+ beta' .* at beta = 1"),
        ("measurement", {}, "acts on a feature.*Got: '', no column"),
        ("measurement", {"column": "label"}, "Got: 'label', the label"),
        ("omitted", {"columns": ["sex"]}, "the sensitive feature"),
        ("omitted", {"columns": ["skill", "proxy", "noise"]}, "hides all features"),
        ("self_selection", {"column": "noise"}, "has no order"),
        ("self_selection", {}, "needs the number behind the label"),
        ("cpt", {}, "needs edits"),
        ("proxy", {}, "has a column 'proxy' of its own"),
    ],
)
def test_what_cannot_be_planted_is_refused(
    network: Network, step: str, parameters: dict[str, object], said: str
) -> None:
    with pytest.raises(BiasError, match=said):
        make_bias(make_step(step, parameters)).plant(network, 1.0)
    if "rate" not in parameters:
        with pytest.raises(BiasError, match=r"^Step 2 \(" + step):
            make_bias("label", make_step(step, parameters)).check(network.schema, [1.0])


def test_a_network_is_edited_first(network: Network) -> None:
    edits = {"edits": [{"attribute": "sex", "group": "women"}]}
    with pytest.raises(BiasError, match="edits the network after a step"):
        make_bias("label", make_step("cpt", edits)).plant(network, 0.5)
    both = make_bias(make_step("cpt", edits), "selection").plant(network, 0.5)
    assert both.network is not network
    with pytest.raises(UnknownNameError):
        make_bias(make_step("label", {"group": {"sex": "nobody"}})).plant(network, 0.5)


def test_a_kind_that_breaks_a_rule_fails_its_check() -> None:
    class Careless(BiasKind):
        name, summary, reference, version = "careless", "a", "b", "1"

        def recorded(self, table: Table, beta: float, rng: np.random.Generator) -> Table:
            return table.with_column(table.schema.label, np.zeros(len(table), dtype=np.int16))

    class Greedy(BiasKind):
        name, summary, reference, version = "greedy", "a", "b", "1"

        def chances(self, rows: Rows, beta: float) -> Chances:
            return Chances(turned=by_label(rows.deprived, favorable=1.5))

    broken = [check_bias(Bias((kind(),))) for kind in (Careless, Greedy)]
    failed = [{r.check for r in results if r.status == "failed"} for results in broken]
    assert "labels, rows and roles stay where features are recorded anew" in failed[0]
    assert "chances are probabilities" in failed[1]


def test_a_group_of_labels_follows_labels_that_earlier_steps_turned(network: Network) -> None:
    rejected = make_step("random_selection", {"rate": 0.9, "group": {"label": "rejected"}})
    bias, rows = make_bias("label", rejected), Rows.of(example_table(20_000))
    after = draw(bias, rows, 0.7)
    expected = bias.expected_in_rows(rows, 0.7)
    assert after.discrimination == pytest.approx(expected.discrimination, abs=0.03)
    assert len(after.table) / 20_000 == pytest.approx(expected.kept, abs=0.02)
    planted = bias.plant(network, 0.7)
    sample = planted.draw_rows(20_000, np.random.default_rng(1))
    assert sample.discrimination == pytest.approx(planted.discrimination, abs=0.03)


@pytest.mark.parametrize(
    ("first", "second", "said"),
    [
        (("omitted", {"columns": ["skill"]}), ("label", {"group": {"skill": "a"}}), "no column .*'skill'"),
        (("omitted", {"columns": ["skill"]}), ("measurement", {"column": "skill"}), "no column .*'skill'"),
        (("proxy", {"column": "more"}), ("proxy", {"column": "more"}), "has a column 'more' of its own"),
        (("missing", {"column": "skill"}), ("self_selection", {"column": "skill"}), "has no order"),
        (
            ("missing", {"column": "skill"}),
            ("measurement", {"column": "skill", "shift": 1}),
            "'skill' has no order",
        ),
    ],
)
def test_a_step_finds_what_earlier_ones_leave(
    network: Network, first: tuple[str, dict[str, object]], second: tuple[str, dict[str, object]], said: str
) -> None:
    bias = make_bias(make_step(*first), make_step(*second))
    with pytest.raises(BetabenchError, match=f"Step 2 .*{said}"):
        bias.plant(network, 0.5)
    with pytest.raises(BetabenchError, match=f"Step 2 .*{said}"):
        bias.check(network.schema, [0.5])


def test_a_later_step_may_use_what_an_earlier_one_adds(network: Network) -> None:
    bias = make_bias(
        make_step("missing", {"column": "skill"}),
        make_step("label", {"group": {"skill": "missing"}, "rate": 1}),
        make_step("proxy", {"column": "more"}),
        make_step("measurement", {"column": "more"}),
    )
    planted = bias.plant(network, 0.5)
    sample = planted.draw_rows(20_000, np.random.default_rng(1))
    assert sample.discrimination == pytest.approx(planted.discrimination, abs=0.03)
    assert not sample.table.schema.column("skill").ordered


def test_a_shift_of_many_states_ends_at_the_last(network: Network) -> None:
    rows = Rows.of(example_table(500))
    for shift in (32_767, 10**30, -(10**30)):
        far = make_bias(make_step("measurement", {"column": "skill", "shift": shift, "group": "all"}))
        skill = draw(far, rows, 1.0).table.codes[:, 0]
        assert set(skill.tolist()) == {6 if shift > 0 else 0}


def test_nothing_acts_at_zero_whatever_the_parameters_say(network: Network) -> None:
    bias = make_bias("sensitive_noise", make_step("label", {"rate": "0.1 / beta"}))
    planted = bias.plant(network, 0.0)
    assert planted.expected == make_bias("label").plant(network, 0.0).expected  # exact, not simulated


def test_samples_tell_true_groups_from_recorded_ones(network: Network) -> None:
    planted = make_bias("sensitive_noise").plant(network, 1.0)
    sample = planted.draw_rows(20_000, np.random.default_rng(1))
    assert sample.discrimination == pytest.approx(planted.discrimination, abs=0.03)
    assert (sample.deprived != sample.table.deprived).mean() > 0.2
    sensitive = sample.table.schema.sensitive_index
    wrong = sample.before.codes[sample.positions, sensitive] != sample.table.codes[:, sensitive]
    assert wrong.mean() == pytest.approx(0.5, abs=0.02)


def test_a_score_keeps_its_range_where_rows_are_left_out() -> None:
    table = example_table(5000)
    values = table.codes[:, 0].astype(float)
    rows = Rows.of(table, Score(values, threshold=3.0, half_range=3.0))
    low = make_step("random_selection", {"rate": 1, "group": {"skill": list("abc")}})
    bias = make_bias(low, make_step("self_selection", {"group": "all", "rate": 1}))
    assert len(draw(bias, rows, 1.0).table) / 5000 == pytest.approx(
        bias.expected_in_rows(rows, 1.0).kept, abs=0.02
    )


def test_a_wrong_step_of_a_file_is_named() -> None:
    assert BiasEntry.model_validate({"name": "a", "steps": ["label", "selection"]}).to_bias() == make_bias(
        "label", "selection"
    )
    with pytest.raises(ValidationError, match=r"(?s)steps.0.parameters.*valid dictionary"):
        BiasEntry.model_validate({"kind": "label", "parameters": 3, "rate": 1})
    with pytest.raises(BiasError, match=r"^rate: The parameter '2 \* beta'"):
        make_bias(make_step("label", {"rate": "2 * beta"})).check(example_table().schema, [1.0])
    for text in (10**400, float("inf"), "beta % 2"):
        with pytest.raises(BiasError, match=r"rate: (must be a finite number|holds 'Mod')"):
            make_step("label", {"rate": text})


def test_a_bias_that_does_more_than_edit_is_not_inert() -> None:
    assert PlantedBias("a", kind="cpt", edits=("P",)).inert
    assert not PlantedBias("a", kind="cpt, label", edits=("P",)).inert


def test_edits_of_a_kind_that_leaves_the_network_alone_are_in_keys() -> None:
    class Own(BiasKind):
        name, summary, reference, version = "own", "a", "b", "1"
        edits: str = ""

    keys = [describe_bias(make_bias("label", Own(edits=text))) for text in "ab"]
    assert keys[0] != keys[1]


class Undeclared(BiasKind):
    """Turn favorable labels by a feature that it does not declare."""

    name, summary, reference, version = "undeclared", "an example", "an example", "1"

    column: str = ""

    def chances(self, rows: Rows, beta: float) -> Chances:
        states = rows.table.codes[:, rows.table.schema.index(self.column)]
        return Chances(turned=np.column_stack([np.zeros(len(states)), beta * (states > 0)]))


class Declared(Undeclared):
    """The same, declared."""

    def looks_at(self, schema: Schema) -> tuple[str, ...]:
        return (*(super().looks_at(schema) or ()), self.column)


@pytest.mark.parametrize("column", ["skill", "proxy", "noise"])
def test_a_kind_that_depends_on_a_feature_is_told_to_declare_it(column: str) -> None:
    results = {check.check: check for check in check_bias(Bias((Undeclared(column=column),)))}
    failed = results["samples of a network have the expected discrimination and groups"]
    assert failed.status == "failed"
    assert f"depend on a column that it does not declare: {column!r}" in failed.detail
    assert f"return (*super().looks_at(schema), {column!r})" in failed.detail
    declared = check_bias(Bias((Declared(column=column),)))
    assert [check.check for check in declared if check.status == "failed"] == []


def test_rates_of_groups_follow_from_the_rate_of_all_and_their_difference() -> None:
    rates = Expected(discrimination=0.2, deprived=0.25, kept=1.0, favorable=0.5).rates
    assert rates == pytest.approx((0.35, 0.55))
