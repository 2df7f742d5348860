"""If rows hide bias, does planting more bias in them help to choose a technique?"""
