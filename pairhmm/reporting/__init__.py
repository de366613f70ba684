"""The contents of a report: sites, panels, cohort figures, scan hits. Pure functions on dataclasses; no files."""
