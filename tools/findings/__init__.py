"""What writes the numbers of findings: a module for each study, called ``python -m tools.findings.NAME``."""
