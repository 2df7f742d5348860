"""Do techniques rank under planted bias as they do under people's?"""
