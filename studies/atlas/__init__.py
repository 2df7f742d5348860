"""What must you know to undo a bias, on data that advice has not seen?"""
