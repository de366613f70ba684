"""Files of any format: where outputs go, how inputs are opened and read, and whether they are whole."""
