"""Figures: functions from a run's numbers to a matplotlib figure."""
