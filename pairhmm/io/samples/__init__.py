"""Files of a scan (samples, signatures, hits), and the sample sheet."""
