"""Pages as HTML: a finished run, the atlas, and any Markdown."""
