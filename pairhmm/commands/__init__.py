"""What each command does, as a Python function; `pairhmm.cli` is the command line to it."""
