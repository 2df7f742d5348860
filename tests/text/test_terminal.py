"""Markdown as lines of a terminal."""

from benchmark.text.terminal import as_text

COMMAND = f"betabench audit 'predictions of our bank.csv' --label label --favorable 'granted loan' {'x' * 50}"


def test_no_command_is_broken_however_long() -> None:
    sentence = f"Some words that nearly fill a line of a terminal of a hundred columns, and then `{COMMAND}`."
    for text in (sentence, f"- {sentence}", f"> {sentence}", f"```\n{COMMAND}\n```"):
        assert COMMAND in as_text(text)


def test_words_are_broken_and_stand_under_the_first_word_of_their_item() -> None:
    lines = as_text("1. " + "word " * 30).splitlines()
    assert lines[0] == "1. " + " ".join(["word"] * 19)
    assert lines[1] == "   " + " ".join(["word"] * 11)


def test_code_in_a_table_has_its_spaces() -> None:
    assert "one two" in as_text("| name | run |\n|---|---|\n| a | `one two` |")


def test_a_table_of_many_numbers_keeps_its_names_and_goes_on_below() -> None:
    metrics = [f"a_long_metric_{i}" for i in range(9)]
    rows = [[f"technique_{i}", *(f"0.{i}{j}" for j in range(9))] for i in range(3)]
    text = "\n".join(f"| {' | '.join(row)} |" for row in (["name", *metrics], [":--", *["--:"] * 9], *rows))
    lines = as_text(text, 100).splitlines()
    assert max(map(len, lines)) <= 100
    found: dict[str, list[str]] = {}
    for name, *numbers in map(str.split, filter(None, lines)):
        found.setdefault(name, []).extend(numbers)
    assert found == {row[0]: row[1:] for row in (["name", *metrics], *rows)}


def test_a_heading_without_words_is_no_error() -> None:
    assert as_text("# \n\ntext").split() == ["text"]
