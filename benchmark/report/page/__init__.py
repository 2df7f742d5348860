"""A finished run as one interactive page, which needs no network, no server and no other file."""

from benchmark.report.page.document import write_page

__all__ = ["write_page"]
