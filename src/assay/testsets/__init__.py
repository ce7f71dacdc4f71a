"""Here is a file of golden queries, in one of six forms: which test set is it, and is it sound?"""
