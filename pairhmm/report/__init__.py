"""Files of the report: the page and the content for MultiQC that it writes, and the timings and fits that it reads."""
