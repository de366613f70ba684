"""The command line: one small module a command; options, messages and exit codes, no logic."""
