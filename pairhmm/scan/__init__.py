"""Scanners, which find signatures in samples. Each backend that can scan has a module of its name here."""
