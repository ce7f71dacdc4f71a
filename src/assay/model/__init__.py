"""The values that everything else is about: judgments, rankings, arrays."""
