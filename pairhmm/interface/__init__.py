"""What callers of the package meet: how arguments are taken, options are checked and objects are shown."""
