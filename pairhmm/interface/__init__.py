"""How the package takes arguments, checks options, shows objects, and finds modules by their old names."""
