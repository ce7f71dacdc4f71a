"""Which steps lead from an older schema to ours? Numbered, and never changed once released."""
