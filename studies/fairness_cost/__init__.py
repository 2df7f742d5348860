"""Where is the trade-off between fairness and accuracy real?"""
