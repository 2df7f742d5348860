"""Tables: from a run's numbers to rows of cells, and these as CSV, Markdown or LaTeX."""
