"""Statistics that only the studies of ``results/`` need; ``tools/findings`` has a module for each study."""
