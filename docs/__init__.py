"""How is the documentation made? Pages by hand, and a reference that is read off the code."""
