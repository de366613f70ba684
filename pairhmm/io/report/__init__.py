"""What the report writes (its page, content for MultiQC), and timings that it reads."""
