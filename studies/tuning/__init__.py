"""What does it cost to tune on validation rows that are as biased as the training rows?"""
