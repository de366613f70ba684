"""What `pairhmm bench` measures: speed and accuracy of backends, devices and scans."""
