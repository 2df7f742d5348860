"""What must you know to undo a bias?"""
