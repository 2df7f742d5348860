"""Does a constraint recover what bias hides?"""
