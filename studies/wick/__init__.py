"""Is there a trade-off of fairness and accuracy?"""
