"""Cards: every rule is held, and told in words."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from pathlib import Path

import pytest

from benchmark.data import Column
from benchmark.data.card import Card, load_card
from benchmark.data.card_parts import NumericColumn
from benchmark.errors import CardError, UnknownNameError

WriteCard = Callable[..., Path]

TITLE, FORMAT, PATH = 'title = "Toy"', 'format = "csv"', 'path = "toy.csv"'  # lines of the toy card
JUDGED = (
    '\njudged = { judge = "who", person = "whom", '
    'label = { kind = "categorical", source = "guess", states = ["no", "yes"] } }'
)
AGE, SEX, BINS = "[columns.age]", 'states = ["f", "m"]', "[0, 18, 65, inf]"


def test_schema_comes_from_the_card_alone(write_card: WriteCard) -> None:
    card = load_card(write_card(rows=None))
    schema = card.schema()
    assert schema.columns == (
        Column("sex", ("f", "m")),
        Column("age", ("minor", "adult", "senior"), ordered=True),
        Column("hired", ("no", "yes")),
    )
    assert (schema.label, schema.favorable_label) == ("hired", "yes")
    assert (schema.sensitive_feature, schema.deprived_group) == ("sex", "f")
    assert card.required_edges == (("sex", "hired"),)
    assert card.forbidden_edges == (("hired", "age"),)
    assert (card.network.algorithm, card.network.score, card.network.max_indegree) == ("tabu", "bic", None)


def test_a_state_beside_the_bins_has_no_place_in_their_order() -> None:
    column = NumericColumn(
        kind="numeric", bins=(0, 1, 2), states=("low", "high", "none"), values={"?": "none"}
    )
    assert not column.ordered


@pytest.mark.parametrize(
    ("old", "new", "field", "words"),
    [
        ('name = "toy"', 'name = "Toy 1"', "name", "pattern"),
        ('title = "Toy"\n', "", "title", "is required, but absent"),
        (TITLE, '\ntitel = "Toy"', "titel", "is not a field of this table; got 'Toy'"),
        (TITLE, '\nrows = "4"', "rows", "must be a valid integer; got '4'"),
        ('label = "hired"', 'label = "hire"', "label", "did you mean 'hired'?; got 'hire'"),
        ('label = "hired"', 'label = "age"', "label", "two states, but has 'minor', 'adult', 'senior'"),
        ('favorable_label = "yes"', 'favorable_label = "1"', "favorable_label", "a state of 'hired'"),
        ('sensitive_feature = "sex"', 'sensitive_feature = "race"', "sensitive_feature", "a column, one of"),
        ('sensitive_feature = "sex"', 'sensitive_feature = "hired"', "sensitive_feature", "the label itself"),
        ('deprived_group = "f"', 'deprived_group = "F"', "deprived_group", "state of 'sex'"),
        ('["sex", "hired"]', '["sex", "hired", "age"]', "required_edges[0]", "at most 2 items"),
        (BINS, "[0, 65, 18, inf]", "columns.age", "must increase strictly"),
        (BINS, '[0, "18", 65, inf]', "columns.age.bins[1]", "must be a valid number; got '18'"),
        (BINS, "[0, 18, inf]", "columns.age", "no raw value leads to 'senior'"),
        ('"minor", "adult", "senior"', '"a", "b", "a"', "columns.age.states", "repeats 'a'"),
        (BINS, '[0, 18]\nbin_states = ["minor"]', "columns.age", "leads to 'adult', 'senior'"),
        (BINS, '[0, 18]\nbin_states = ["a"]', "columns.age", "must be states, but have 'a'"),
        (SEX, 'states = ["f", "f"]', "columns.sex.states", "repeats 'f'"),
        (
            'states = ["no", "yes"]\n',
            'states = ["no", "yes"]\nordered = 1\n',
            "columns.hired.ordered",
            "must be a valid boolean",
        ),
        ('1 = "yes"', '1 = "ja"', "columns.hired.values", "leads from '1' to 'ja'"),
        ('kind = "numeric"', 'kind = "number"', "columns.age", "'categorical', 'numeric'"),
        (FORMAT, 'format = "xls"', "source.format", "'csv', 'arff', 'xlsx', 'parquet' or 'rda'; got 'xls'"),
        (FORMAT, '\nseparator = ";"', "source.separator", "';' (did you mean 'source.delimiter'"),
        (TITLE, '\nencoding = "latin-1"', "encoding", "did you mean 'source.encoding'?"),
        (TITLE, '\nmissing = { state = "a", column = ["age"] }', "missing.column", "columns'"),
        (TITLE, '\nmissing = { state = "a", columns = ["wage"] }', "missing", "mean 'age'?"),
        (TITLE, '\nmissing = { state = "a", columns = ["hired"] }', "label", "two states"),
        (FORMAT, '\ndelimiter = "tab"', "source.delimiter", "at most 1 character"),
        ("[{ path =", '[{ name = "toy.csv", path =', "source.files[0]", "either 'name'"),
        ("[{ path =", '[{ url = "https://x.org/toy.csv", path =', "source.files[0]", "cannot have 'url'"),
        ("[{ path =", '[{ member = "toy.csv", path =', "source.files[0]", "they need 'url'"),
        ('[{ path = "toy.csv"', '[{ url = "ftp://x.org/a", name = "a"', "source.files[0].url", "pattern"),
        ('[{ path = "toy.csv"', '[{ name = "../toy.csv"', "source.files[0].name", "pattern"),
        (
            AGE,
            '[[dropped]]\ncolumns = ["age"]\nreason = "x"\n',
            "dropped",
            "names 'age', which 'columns' names already",
        ),
        (SEX, '\nindicators = { woman = "w" }', "columns.sex.indicators", "leads from 'woman' to 'w'"),
        (SEX, '\nindicators = { woman = "f" }\nsource = "sex"', "columns.sex", "cannot have 'source'"),
        (
            '= ["f", "m"]',
            '\nindicators = { woman = "f" }\n'
            '[columns.s]\nsource = "sex"\nkind = "categorical"\nstates = ["a"]',
            "columns",
            "'sex' has indicators, so",
        ),
        (
            '[source]\nformat = "csv"\nfiles = [',
            'first_of = "id"\n[source]\nformat = "csv"\nfiles = [{ path = "a.csv" }, ',
            "first_of",
            "needs rows of one file",
        ),
        (AGE, '[filter]\nsex = "m"\n', "filter.sex", "must be a valid tuple"),
        (AGE, '[network]\nscore = "aic"\n', "network.score", "'bic' or 'bdeu'"),
        (AGE, "[network]\npseudo_count = nan\n", "network.pseudo_count", "finite"),
    ],
)
def test_a_broken_rule_names_file_field_rule_and_value(
    write_card: WriteCard, old: str, new: str, field: str, words: str
) -> None:
    path = write_card((old, new))
    with pytest.raises(CardError) as caught:
        load_card(path)
    lines = str(caught.value).splitlines()
    assert str(path) in lines[0]
    assert any(line.startswith(f"  {field}: ") and words in line for line in lines[1:]), lines


def test_all_broken_rules_are_told_at_once(write_card: WriteCard) -> None:
    wrong = (('favorable_label = "yes"', 'favorable_label = "maybe"'), ('= "f"', '= "x"'))
    for changes, names in (
        ((('title = "Toy"\n', "colour = 1\n"), ('format = "csv"', "")), ["title", "source.format", "colour"]),
        (wrong, ["favorable_label", "deprived_group"]),
    ):
        with pytest.raises(CardError, match=f"breaks {len(names)} rules") as caught:
            load_card(write_card(*changes))
        fields = [line.split(":")[0].strip() for line in str(caught.value).splitlines()[1:]]
        assert fields[: len(names)] == names


def test_text_that_is_not_toml(write_card: WriteCard) -> None:
    path = write_card(('title = "Toy"', "title = Toy"))
    with pytest.raises(CardError, match=r"not valid TOML.*line 3"):
        load_card(path)
    path.write_bytes(b'name = "\xff"')
    with pytest.raises(CardError, match="not valid TOML"):
        load_card(path)


def test_unknown_card_suggests_the_nearest(tmp_path: Path) -> None:
    with pytest.raises(UnknownNameError, match="did you mean 'adult'"):
        load_card("adlut")
    with pytest.raises(UnknownNameError):
        load_card(tmp_path / "none.toml")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (TITLE, 'title = "Tiny"\nlicence = "CC0-1.0"\nknown_problems = ["Few rows."]\nwarning = "Toy!"'),
        (PATH, 'path = "other.csv"'),
        (FORMAT, '\ninstructions = "Ask me."\nfolder = "toys"'),
        ('[{ path = "toy.csv" }]', '[{ name = "toy.csv", url = "https://x.org/toy.csv.gz" }]'),
        (TITLE, '\nfield = "work"\ncountry = "Y"\nyears = "2001"\nnot_for = "Any."'),
        (AGE, '[[dropped]]\ncolumns = ["id"]\nreason = "Says nothing."\n'),
        (BINS, "[0.0, 18.0, 65.0, inf]"),
        (AGE, '\ndescription = "In years"\nsource = "age"'),
        (AGE, '[network]\nalgorithm = "tabu"\n'),
    ],
)
def test_digest_ignores_what_changes_no_number(write_card: WriteCard, old: str, new: str) -> None:
    digest = load_card(write_card()).digest
    assert load_card(write_card((old, new))).digest == digest


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('name = "toy"', 'name = "toy2"'),
        (BINS, "[0, 19, 65, inf]"),
        (BINS, '\nbin_states = ["adult", "minor", "senior"]'),
        ('["minor", "adult", "senior"]', '["young", "adult", "senior"]'),
        (SEX, 'states = ["m", "f"]'),
        (SEX, "\nordered = true"),
        ('{ 0 = "no", 1 = "yes" }', '{ 1 = "no", 0 = "yes" }'),
        (AGE, '\nsource = "years"'),
        (AGE, '[filter]\nsex = ["m"]\n'),
        (AGE, "[network]\nmax_indegree = 2\n"),
        ('deprived_group = "f"', 'deprived_group = "m"'),
        ('favorable_label = "yes"', 'favorable_label = "no"'),
        ('required_edges = [["sex", "hired"]]', ""),
        ('forbidden_edges = [["hired", "age"]]', ""),
        (PATH, f'path = "toy.csv", sha256 = "{"0" * 64}"'),
        (PATH, 'path = "toy.csv", skip_lines = 1'),
        (FORMAT, '\ndelimiter = ";"'),
        (FORMAT, '\nencoding = "latin-1"'),
        (FORMAT, '\ndelimiter = ";"\ndecimal = ","'),
        (TITLE, '\nmissing = "unknown"'),
        (TITLE, '\nfirst_of = "id"'),
        (SEX, '\nindicators = { woman = "f" }'),
        (TITLE, '\nscore = { column = "points", threshold = 10 }'),
        (TITLE, JUDGED),
        (TITLE, '\nperson = "id"'),
    ],
)
def test_digest_covers_what_changes_a_number(write_card: WriteCard, old: str, new: str) -> None:
    digest = load_card(write_card()).digest
    assert load_card(write_card((old, new))).digest != digest


def test_the_digest_of_the_rows_leaves_out_which_columns_are_ordered(write_card: WriteCard) -> None:
    plain, ordered = (
        load_card(write_card(*change)) for change in ((), (('["f", "m"]', '["f", "m"]\nordered = true'),))
    )
    assert plain.digest != ordered.digest
    assert plain.rows_digest == ordered.rows_digest
    other = load_card(write_card(("[0, 18, 65, inf]", "[0, 19, 65, inf]")))
    assert other.rows_digest != plain.rows_digest


def test_digest_knows_the_order_of_columns_but_not_of_edges(write_card: WriteCard) -> None:
    digest = load_card(write_card()).digest
    card = write_card().read_text()
    sex = card[card.index("[columns.sex]") : card.index("[columns.age]")]
    assert load_card(write_card(card=card.replace(sex, "") + sex)).digest != digest
    edges = ('[["sex", "hired"]]', '[["sex", "hired"], ["age", "sex"]]')
    turned = ('[["sex", "hired"]]', '[["age", "sex"], ["sex", "hired"]]')
    assert load_card(write_card(edges)).digest == load_card(write_card(turned)).digest != digest


def test_prose_that_stands_in_lists_is_one_line(write_card: WriteCard) -> None:
    prose = 'title = "A\\ntoy"\nwarning = "a\\n\\n- b"\nknown_problems = ["x\\n  y"]'
    card = load_card(write_card(('title = "Toy"', prose)))
    assert (card.title, card.warning, card.known_problems) == ("A toy", "a - b", ("x y",))


def test_missing_values_hide_no_broken_rule(write_card: WriteCard) -> None:
    for wrong in ('"fm"', "3", "[1, 2]", "{ f = 1 }"):
        changes = (
            ('states = ["f", "m"]', f"states = {wrong}"),
            ('title = "Toy"', 'title = "Toy"\nmissing = { state = "a", columns = ["sex"] }'),
        )
        with pytest.raises(CardError, match=r"columns\.sex\.states"):
            load_card(write_card(*changes))


def test_a_card_with_missing_values_can_be_read_in_another_way(write_card: WriteCard) -> None:
    card = load_card(write_card((TITLE, '\nmissing = "unknown"')))
    changed = card.with_columns({"age": {"bins": [0, 30, 99], "states": ["young", "old"]}})
    assert changed.columns["age"].states == ("young", "old", "unknown")
    assert changed.columns["age"].values[""] == "unknown"


def test_cards_travel_to_workers(write_card: WriteCard) -> None:
    card = load_card(write_card())
    copy: Card = pickle.loads(pickle.dumps(card))
    assert copy == card
    assert (copy.path, copy.digest) == (card.path, card.digest)
    assert card.path == write_card().resolve()
