"""Pages as HTML: a finished run, the atlas, the index of runs, and any Markdown."""
