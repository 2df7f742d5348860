"""What a run left: its description, its numbers as frames, and the analysis that all outputs share."""
