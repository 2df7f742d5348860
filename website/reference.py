"""Which modules the reference is about; what they offer, mkdocstrings reads from their docstrings."""

from __future__ import annotations

from benchmark.text.markdown import code, table

__all__ = ["REFERENCE", "reference_pages"]

REFERENCE: dict[str, tuple[str, str]] = {
    "api": ("what `import benchmark` offers: runs and samples", "api"),
    "estimator": ("techniques as estimators of scikit-learn", "estimator.fair_classifier"),
    "data": ("tables, cards, loading", "data data.card data.card_parts data.load"),
    "network": ("learning, sampling, inference", "network.model network.learn network.bif"),
    "bias": ("kinds of planted bias", "bias bias.cpt bias.planting"),
    "classifiers": ("classifiers by name", "classifiers"),
    "techniques": ("the contract of a technique", "techniques"),
    "metrics": ("measuring predictions", "metrics"),
    "experiment": (
        "experiment files and runs",
        "experiment.plan experiment.entries experiment.expand experiment.prepare experiment.prepared "
        "experiment.run",
    ),
    "audit": ("audits of anybody's predictions", "audit"),
    "statistics": (
        "intervals, tests, ranks, trade-offs",
        "statistics statistics.intervals statistics.paired statistics.across "
        "statistics.restoration statistics.unprocessing",
    ),
    "runs": ("what a finished run left", "runs.finished runs.analysis"),
    "report": ("tables, figures, the page of a run", "report pages.run_page report.audit"),
    "errors": ("errors, seeds, declarations", "errors seeding declarations"),
}
"""What each page of the reference is about, and its modules within the package, along the data's way."""


def reference_pages() -> dict[str, str]:
    """Return the pages of the reference, and their index, by file name."""
    rows = []
    pages = {}
    for name, (about, modules) in REFERENCE.items():
        full = [f"benchmark.{module}" for module in modules.split()]
        rows.append((f"[{name}]({name}.md)", about, ", ".join(map(code, full))))
        blocks = [f"# {name.capitalize()}", f"{about.capitalize()}.", *(f"::: {module}" for module in full)]
        pages[f"{name}.md"] = "\n\n".join(blocks) + "\n"
    intro = "What each module offers, from its docstrings. Arrays have their shapes, numbers their units."
    index = ["# Reference", intro, table(("page", "about", "modules"), rows)]
    return {"README.md": "\n\n".join(index) + "\n", **pages}
