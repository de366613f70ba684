"""`pairhmm bench`: speed and accuracy of backends, devices and scans."""
