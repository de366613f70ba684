"""Signals of nanopores and others, and tables of the levels that k-mers give."""
