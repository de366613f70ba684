"""Sketches of samples: the file format, its reader beside its writer."""
