"""stdin and stdout: how a path names them, and their descriptors."""

from __future__ import annotations

from typing import Final

STDIN: Final = "-"
STDOUT: Final = "-"
STDIN_FILE: Final = 0
STDOUT_FILE: Final = 1
