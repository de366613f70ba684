"""`python -I -S client.py SOCKET ARGUMENT...` is `python -m MODULE ARGUMENT...`, run by server.py behind that socket.

It imports what an interpreter has built in only: that is why it starts in a few milliseconds.
"""

import _signal
import _socket
import os
import sys
from array import array

path, *arguments = map(os.fsencode, sys.argv[1:])
variables = [b"%b=%b" % pair for pair in os.environb.items()]
request = b"\0".join([os.getcwdb(), b"%d" % len(arguments), *arguments, *variables])
server = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
server.connect(path)
server.sendmsg([b"%8d" % len(request)], [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, array("i", [0, 1, 2]))])
server.sendall(request)
code = int(server.recv(16))
if code < 0:
    _signal.signal(-code, _signal.SIG_DFL)
    os.kill(os.getpid(), -code)
os._exit(code)
