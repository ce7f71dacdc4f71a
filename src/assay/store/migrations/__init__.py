"""Which steps lead from an older schema to ours? Numbered, never changed once released."""
