"""Types lines into an interactive shell on a pseudo-terminal, presses TAB after each, and prints
the line that the shell then has. The shell's startup file binds CTRL-T to printing its line
between two pairs of @@, and sets a prompt that ends in "ready> ".

Usage: typed.py LINE... -- SHELL ARGUMENT..."""

import fcntl
import os
import pty
import re
import select
import struct
import sys
import termios

SECONDS = 120  # without output from the shell, which then hangs


def read_until(terminal, pattern, seen):
    """Returns the match of `pattern`, and what follows it."""
    while not (match := re.search(pattern, seen, re.DOTALL)):
        ready, _, _ = select.select([terminal], [], [], SECONDS)
        if not ready:
            sys.exit(f"the shell says nothing more; it said: {seen!r}")
        try:
            seen += os.read(terminal, 65536).decode(errors="replace")
        except OSError:
            sys.exit(f"the shell has ended; it said: {seen!r}")
    return match, seen[match.end():]


def main():
    split = sys.argv.index("--")
    lines, command = sys.argv[1:split], sys.argv[split + 1:]
    process, terminal = pty.fork()
    if process == 0:
        os.environ["TERM"] = "xterm"
        os.execvp(command[0], command)
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 50, 500, 0, 0))
    _, seen = read_until(terminal, "ready> ", "")
    for line in lines:
        os.write(terminal, b"\x15" + line.encode() + b"\t\x14")  # CTRL-U ... TAB CTRL-T
        match, seen = read_until(terminal, "@@(.*?)@@", seen)
        print(match[1])
    os.close(terminal)  # ends the shell
    os.waitpid(process, 0)


main()
