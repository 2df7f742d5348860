"""Mitigate for one attribute: what happens to another?"""
