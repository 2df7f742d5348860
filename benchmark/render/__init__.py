"""Sections and tables as Markdown, CSV and LaTeX, and in the terminal."""
