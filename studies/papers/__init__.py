"""Do a paper's published numbers come out again?"""
