"""Sections as Markdown and in the terminal, tables for print as Markdown, CSV and LaTeX."""
