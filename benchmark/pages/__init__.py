"""Pages in HTML, from the templates beside."""
