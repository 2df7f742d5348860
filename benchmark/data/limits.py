"""How large a file may be that nobody has described: without imports, for the command line."""

MOST_MB = 500.0
"""Most megabytes of text, unpacked."""
