"""Tables of a cohort: distances, relatedness, contamination, positions on the map; and pedigrees."""
