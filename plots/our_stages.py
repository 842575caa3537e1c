"""A chapter's program that times its stages one sample at a time, when it is asked to (--take-turns)."""

import json
import subprocess
import tempfile


class ProgramFailed(Exception):
    """The program has ended, or does not answer as it should; the message says what it printed last."""

    def __init__(self, message, status):
        super().__init__(message)
        self.status = status


class OurStages:
    """Stages of a chapter at one shape: those that are `ready` to be timed, and why others are `skipped`."""

    def __init__(self, program, shape, stages):
        self.ready, self.skipped, self.process = [], {}, None
        if not stages:
            return
        self.stderr = tempfile.TemporaryFile("w+")
        self.name = program.name
        call = [program, "--device", "gpu", "--size", "x".join(map(str, shape)),
                "--stage", ",".join(stages), "--take-turns"]
        try:
            self.process = subprocess.Popen(call, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                            stderr=self.stderr, text=True, bufsize=1)
        except OSError as error:
            raise ProgramFailed(f"{program}: {error.strerror}", 2) from None
        try:
            answer = self.answer()
            if not isinstance(answer.get("ready"), list):
                self.fail(f"expected the names of the stages that are ready, found {json.dumps(answer)}", 1)
        except BaseException:
            self.process.kill()
            raise
        self.ready, self.skipped = answer["ready"], answer.get("skipped", {})

    def fail(self, message, status):
        raise ProgramFailed(f"{self.name} --take-turns: {message}", status)

    def answer(self):
        """The next line of the program's output, which is a JSON object."""
        line = self.process.stdout.readline()
        if not line:
            status = self.process.wait()
            self.stderr.seek(0)
            said = " ".join(self.stderr.read().split()) or "and said nothing"
            # A wrong option is not the user's mistake but this script's or an old program's.
            self.fail(f"ended with exit status {status}: {said}", status if status in (2, 3) else 1)
        try:
            found = json.loads(line)
        except ValueError:
            found = None
        if not isinstance(found, dict):
            self.fail(f"expected a JSON object, found {line.strip()[:80]!r}", 1)
        if "error" in found:
            self.fail(found["error"], 1)
        return found

    def ask(self, regime, stage):
        """One sample, as the program gives it: `us`, in sustained mode clocks as well."""
        try:
            self.process.stdin.write(f"{regime} {stage}\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            pass  # it has ended: answer() says why
        found = self.answer()
        if not isinstance(found.get("us"), (int, float)):
            self.fail(f"{regime} {stage}: expected us, found {json.dumps(found)}", 1)
        return found

    def close(self):
        """Ends the program, which it does at the end of its input."""
        if not self.process:
            return
        try:
            self.process.stdin.close()
        except BrokenPipeError:
            pass  # it has ended already
        self.process.wait()
        self.process.stdout.close()
        self.stderr.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()
