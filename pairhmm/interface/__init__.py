"""What callers of the package meet: how arguments are taken, how options are checked, how objects are shown."""
