"""The program typeahead as a typist has it: on a terminal of its own, and from a pipe. No check of its own."""
import fcntl
import os
import pty
import re
import select
import struct
import subprocess
import termios
import time

from parts import expect

LINES = "the quick brown fox jumps\na small model learns\nthree phases sum to zero\n"
PATIENCE = 100      # seconds that a thing may take on a slow machine before the test says that it does not come


def run(program, work, *words, text="", status=0):
    got = subprocess.run([program, *words], cwd=work, input=text.encode(), capture_output=True)
    shown = (got.stdout + got.stderr).decode("utf-8", "replace")
    expect(got.returncode == status, f"{' '.join(words)}: status {got.returncode}, not {status}\n{shown}")
    return shown


def perplexities(shown):
    return [float(word) for word in re.findall(r"^line \d+: perplexity ([\d.]+)", shown, re.M)]


class Terminal:
    """The program on a terminal of its own; `shown` is all that it wrote."""

    def __init__(self, program, work, *words, columns=80, rows=24):
        self.main, self.side = pty.openpty()
        self.resize(columns, rows)
        self.modes, self.shown = termios.tcgetattr(self.side), ""
        env = dict(os.environ, TERM="xterm", LC_ALL="C.UTF-8")
        self.child = subprocess.Popen([program, *words], cwd=work, env=env, stdin=self.side, stdout=self.side,
                                      stderr=self.side, start_new_session=True)

    def resize(self, columns, rows=24):
        fcntl.ioctl(self.side, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def is_raw(self):
        return not termios.tcgetattr(self.side)[3] & (termios.ICANON | termios.ECHO)

    def type(self, text):
        self.shown = ""
        os.write(self.main, text.encode())

    def read(self):
        if select.select([self.main], [], [], 0.1)[0]:
            self.shown += os.read(self.main, 65536).decode("utf-8", "replace")

    def until(self, holds, what):
        """Until it has written what is looked for: what it draws now may still be of before."""
        end = time.monotonic() + PATIENCE
        while not holds(self.shown) and time.monotonic() < end and self.child.poll() is None:
            self.read()
        return expect(holds(self.shown), f"{what}: {self.shown[-500:]!r}")

    def wait(self, pattern, what):
        return self.until(lambda shown: re.search(pattern, shown), what)

    def leave(self, status):
        """Its end is read while it comes: a terminal's buffer is small."""
        end = time.monotonic() + PATIENCE
        while self.child.poll() is None and time.monotonic() < end:
            self.read()
        self.read()
        if not expect(self.child.poll() == status, f"status {self.child.poll()}, not {status}: {self.shown[-500:]!r}"):
            self.child.kill()
            self.child.wait()
        expect(termios.tcgetattr(self.side) == self.modes, "the terminal's modes were not given back")
        os.close(self.main)
        os.close(self.side)


def row(text, grey=""):
    """The input row as it is drawn."""
    return re.escape(f"\r> {text}\033[90m") + grey
