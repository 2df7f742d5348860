"""``betabench report``: the statistics of a finished run as files."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from benchmark.facts import Facts, facts_of
from benchmark.figures import Drawing
from benchmark.pages.run_page import write_page
from benchmark.runs.analysis import RunStatistics
from benchmark.tables.layout import write_tables
from benchmark.tables.techniques import Numbers, techniques_table
from benchmark.text.writing import FORMATS_WRITTEN, SIX_DIGITS, csv_text, write_atomically
from benchmark.wording import render, vocabulary

_FIGURES_A_LINE = 10


def write_statistics(
    output: Path,
    statistics: RunStatistics,
    facts: Facts | None = None,
    *,
    figures: bool = False,
    formats: Sequence[str] = FORMATS_WRITTEN,
    page: Path | None = None,
    columns: Sequence[str] = (),
    say: Callable[[str], None] = lambda _step: None,
) -> list[Path]:
    """Write a CSV file for each frame, ``facts.json``, two pages and figures, and return their paths.

    ``facts`` are those of the statistics, if they are there already.

    The same statistics give the same bytes, and each file appears whole. Files that an earlier report wrote
    and this one does not are removed, and its figures if other numbers were written. ``README.md`` shows the
    first PNG figure of each kind. Figures have the given :data:`~benchmark.text.writing.FORMATS`. ``page`` is
    the folder of the interactive page, which comes last and is not returned. ``columns`` are those of
    :func:`~benchmark.tables.techniques.techniques_table`. ``say`` gets the name of each step before it
    begins.
    """
    numbers = Numbers.of_statistics(statistics)
    say("writing tables")
    contents = {
        output / f"{name}.csv": csv_text(frame, SIX_DIGITS) for name, frame in statistics.frames.items()
    }
    changed = any(path.is_file() and path.read_bytes() != text.encode() for path, text in contents.items())
    facts = facts or facts_of(statistics)
    contents |= {
        output / "facts.json": facts.model_dump_json() + "\n",
        output / "details.md": render("details", facts),
    }
    written = [write_atomically(path, text) for path, text in contents.items()]
    written += write_tables(output / "tables", [techniques_table(numbers, columns)], numbers.notes)
    drawings: list[Drawing] = []
    if figures:  # matplotlib is loaded only when something is drawn
        from benchmark.figures.lists import statistics_figures
        from benchmark.figures.style import write_figures

        drawings += statistics_figures(statistics)
    if drawings:
        say(f"drawing {len(drawings)} figures")
        for n_drawn, path in enumerate(write_figures(output / "figures", drawings, formats), 1):
            written.append(path)
            if n_drawn % (_FIGURES_A_LINE * len(formats)) == 0:
                say(f"{n_drawn // len(formats)} of {len(drawings)} figures are drawn")
    earlier = [path for name in vocabulary()["file"] if (path := output / name).exists()]
    if drawings or changed:
        kinds = vocabulary()["figure"]
        earlier += [path for kind in kinds for path in output.glob(f"figures/{kind}[_.]*")]
    for path in {*earlier} - {*written}:
        path.unlink()
    text = render("readme", facts, pictures=list(_pictures(output)))
    written.append(write_atomically(output / "README.md", text))
    if page is not None:
        say("making the page")
        write_page(facts, page)  # last, because it links the other files
    return written


def _pictures(output: Path) -> Iterator[tuple[str, str]]:
    """Yield the first picture of each kind in a folder, and its caption."""
    for kind, figure in vocabulary()["figure"].items():
        paths = sorted(output.glob(f"figures/{kind}[_.]*png"))
        yield from ((path.relative_to(output).as_posix(), figure["label"]) for path in paths[:1])
