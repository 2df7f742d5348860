"""Can the numbers of Legast, Calders and Fouss (2025) be repeated?"""
