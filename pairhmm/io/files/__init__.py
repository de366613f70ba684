"""Files as such: where outputs go, how inputs are opened and read, whether they are whole."""
