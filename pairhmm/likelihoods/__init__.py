"""Likelihood tables: writer, reader, checksums."""
