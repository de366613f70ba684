"""What the report reads and writes besides the formats of its own."""
