"""How does a request reach us, and who may it be from?"""
