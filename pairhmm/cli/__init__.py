"""How the package takes arguments, checks options and shows objects, and what it sets of its process."""
