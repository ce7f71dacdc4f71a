"""How does a request get in, from whom, and how many at a time?"""
