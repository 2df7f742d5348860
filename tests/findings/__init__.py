"""Findings say what the committed values give: a module for each study."""
