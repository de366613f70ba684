"""Warpers, which find the cheapest time warping of two signals. Each backend that warps has a module of its name."""
