"""Which test set does a file of golden queries hold, in any of six forms, and is it valid?"""
