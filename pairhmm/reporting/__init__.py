"""What a report is made of: sites, panels, cohort figures, scan hits. Pure functions on dataclasses, no files."""
