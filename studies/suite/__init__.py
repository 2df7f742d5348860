"""Who gets back what a bias took, and who pays?"""
