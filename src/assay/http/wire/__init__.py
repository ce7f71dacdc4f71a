"""What travels over HTTP, field by field? Strict models; an unknown field is refused."""
