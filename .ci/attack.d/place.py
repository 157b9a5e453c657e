"""The folder of one input: commands are run in it, with limits, and what they change beside their output is seen."""

import hashlib
import os
import resource
import shlex
import shutil
import signal
import stat
import subprocess
import time
from dataclasses import dataclass
from typing import Optional

from verdict import LOST, WRONG, require

LIMIT = 20.0  # seconds until a command counts as hanging
MEMORY = 2 << 30  # bytes of address space


@dataclass
class Done:
    """A command that has ended, or was killed at its limit."""

    arguments: list
    status: int
    out: str
    err: str
    seconds: float
    timed_out: bool
    lag: Optional[float]  # seconds from the signal to the end, if it was sent
    has_stderr: bool


class Place:
    """One input's folder: `in` to work in, `tmp` for temporary files, `home`."""

    def __init__(self, program, folder, shared, quick):
        self.program, self.folder, self.shared_folder, self.quick = program, folder, shared, quick
        self.inside, self.running, self.mounts = folder / "in", [], []
        for name in ("in", "tmp", "home", "output"):
            (folder / name).mkdir(parents=True)

    def write(self, name, content):
        """Writes a file, text or bytes, and gives its path."""
        path = self.inside / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode(errors="surrogateescape") if isinstance(content, str) else content)
        return path

    def start(self, *arguments, memory=MEMORY, environment=None, stdout=None, stderr=None, limits=()):
        """Starts the program in a session of its own; its output goes to files unless told otherwise."""
        count = len(self.running)
        with open(self.folder / "commands.sh", "a", errors="backslashreplace") as log:
            settings = "".join(f"{name}={shlex.quote(value)} " for name, value in (environment or {}).items())
            words = " ".join(shlex.quote(os.fsdecode(word)) for word in arguments)
            log.write(f"{settings}topopt {words}\n")

        def limit():
            os.umask(0o022)
            for kind, amount in ((resource.RLIMIT_AS, memory), (resource.RLIMIT_CORE, 0), *limits):
                resource.setrlimit(kind, (amount, amount))

        # The driver of a GPU takes more addresses than MEMORY; whoever hides the GPUs from the attack hides them here.
        hidden = {name: os.environ[name] for name in ("CUDA_VISIBLE_DEVICES",) if name in os.environ}
        variables = {**hidden, "PATH": os.environ["PATH"], "TMPDIR": str(self.folder / "tmp"),
                     "HOME": str(self.folder / "home"), **(environment or {})}
        files = [open(self.folder / "output" / f"{count}.{name}", "wb") for name in ("out", "err")]
        process = subprocess.Popen(
            [self.program, *arguments], cwd=self.inside, env=variables, stdin=subprocess.DEVNULL,
            stdout=files[0] if stdout is None else stdout, stderr=files[1] if stderr is None else stderr,
            start_new_session=True, preexec_fn=limit)
        for file in files:
            file.close()
        process.count, process.began, process.has_stderr = count, time.monotonic(), stderr is None
        self.running.append(process)
        return process

    def finish(self, process, limit=LIMIT, sent=None):
        """Waits for a command and kills it at the limit; the signal `sent[1]` goes to it after `sent[0]` seconds."""
        signalled, timed_out = None, False
        try:
            process.wait(limit if sent is None else sent[0])
        except subprocess.TimeoutExpired:
            if sent is not None:
                signalled = time.monotonic()
                process.send_signal(sent[1])
        try:
            process.wait(max(0.01, limit - (time.monotonic() - process.began)))
        except subprocess.TimeoutExpired:
            timed_out = True
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        now = time.monotonic()
        texts = []
        for name in ("out", "err"):
            with open(self.folder / "output" / f"{process.count}.{name}", "rb") as file:
                texts.append(file.read(1 << 20).decode(errors="replace"))
        arguments = [os.fsdecode(word) for word in process.args[1:]]
        return Done(arguments, process.returncode, *texts, now - process.began, timed_out,
                    None if signalled is None else now - signalled, process.has_stderr)

    def run(self, *arguments, limit=LIMIT, sent=None, **settings):
        """Starts a command and waits for its end."""
        return self.finish(self.start(*arguments, **settings), limit, sent)

    def require(self, *arguments, **settings):
        """Runs a command that prepares an input and must succeed."""
        done = self.run(*arguments, **settings)
        if done.status != 0:
            raise RuntimeError(f"topopt {' '.join(done.arguments)}: status {done.status}\n{done.err}")
        return done

    def shared(self, name, make):
        """A folder that several inputs read; `make` fills it, given a place to work in, when first wanted."""
        folder = self.shared_folder / name
        if not folder.exists():
            other = Place(self.program, folder, self.shared_folder, self.quick)
            try:
                make(other)
            except BaseException:
                remove_tree(folder)
                raise
            finally:
                other.close()
        return folder / "in"

    def state(self):
        """What lies in the folder: content of files, targets of links, kind of others."""
        found = {}
        for top in ("in", "tmp", "home"):
            for folder, names, files in os.walk(self.folder / top):
                for name in names + files:
                    path = os.path.join(folder, name)
                    found[os.path.relpath(path, self.folder)] = content(path)
        return found

    def unchanged(self, before, but=()):
        """Nothing is new, changed or gone since `before`, but what lies in or is named by one of `but` in `in`."""
        after = self.state()
        allowed = tuple(os.path.join("in", name) for name in but)
        for path in sorted(before.keys() | after.keys()):
            if path in allowed or path.startswith(tuple(name + os.sep for name in allowed)):
                continue
            lost = path in before and after.get(path) != before[path]
            require(not lost, LOST, f"{path!r} was changed or removed")
            require(path in before, WRONG, f"{path!r} is new")

    def close(self):
        """Ends what still runs and takes mounted folders away."""
        for process in self.running:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
        for mount in reversed(self.mounts):
            subprocess.run(["umount", "--lazy", mount], check=True)


def content(path):
    """What must stay the same of a file."""
    mode = os.lstat(path).st_mode
    if stat.S_ISLNK(mode):
        return f"link to {os.readlink(path)}"
    if not stat.S_ISREG(mode):
        return f"kind {stat.S_IFMT(mode)}"
    with open(path, "rb") as file:
        return hashlib.sha256(file.read()).hexdigest()


def remove_tree(folder):
    """Removes a folder with names of any bytes, if it is there."""
    shutil.rmtree(os.fsencode(folder), ignore_errors=True)
