"""Does each attack that once worked fail now? One file for each finding."""
