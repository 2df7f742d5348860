"""Pages as HTML: a finished run, an audit, and the index of runs."""
