"""Over all sources, what restores decisions, and what evens out acceptance?"""
