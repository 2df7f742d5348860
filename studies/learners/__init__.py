"""Which conclusions about techniques survive a change of the learner?"""
