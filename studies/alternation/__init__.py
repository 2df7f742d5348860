"""Which findings of Alelyani (2021) hold?"""
