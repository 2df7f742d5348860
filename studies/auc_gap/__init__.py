"""Does mitigation close the AUC gap?"""
