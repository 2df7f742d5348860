"""A run's numbers beside published ones."""
