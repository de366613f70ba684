"""Files of the report: its page, and the timings that it reads."""
