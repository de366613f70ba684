"""MinHash sketches of samples, and how alike two are. Each backend that compares has a module of its name here."""
