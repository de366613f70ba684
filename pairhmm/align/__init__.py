"""Aligners, which find the best alignment of two sequences. Each backend that aligns has a module of its name here."""
