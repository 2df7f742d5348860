"""Do rates of hidden bias that others published follow from our networks?"""
