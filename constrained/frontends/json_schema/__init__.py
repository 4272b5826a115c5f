"""JSON Schema as a front end: a schema becomes the grammar of the JSON texts of its valid values."""
