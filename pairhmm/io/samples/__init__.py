"""What a scan reads and writes (samples, signatures, hits), and the sample sheet."""
