"""Likelihood tables: writer, reader, Parquet."""
