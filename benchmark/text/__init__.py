"""Text for people: Markdown, files, progress, and cells that a spreadsheet reads as text."""
