"""Pages by hand of which some parts are computed."""


def with_part(page: str, begin: str, part: str, end: str) -> str:
    """Return a page with other text between two marks; without the marks, as it is."""
    before, first, rest = page.partition(begin)
    _, last, after = rest.partition(end)
    return f"{before}{first}{part}{last}{after}" if last else page
