"""Judges an answer to an exercise of chapter 09.

    python judge.py EXERCISE ANSWER RESULT    for example 1_operator my.py verdict.json

EXERCISE/check.py, beside this file, is the specification. The verdict has the fields that judge.hpp
describes. It is written after each case, so that it says how far an answer came that does not end.

Importing torch takes seconds, so one process imports it, and each answer is judged in a child that it forks.
"""

import ast
import faulthandler
import importlib.util
import json
import os
import pathlib
import re
import signal
import sys
import tempfile
import time
import traceback
import warnings

# Else a question whether there is a GPU would forbid the children to use it.
os.environ.setdefault("PYTORCH_NVML_BASED_CUDA_CHECK", "1")
import torch  # noqa: E402

FOLDER = pathlib.Path(__file__).resolve().parent
GIVEN = FOLDER.parents[1] / "chapters" / "09_pytorch" / "exercises"  # has given.py
SECONDS = 60 * float(os.environ.get("WORKBOOK_MINUTES", "0.5"))  # for one answer
DONE, BAD_USAGE = 0, 2
sys.path.insert(0, str(GIVEN))


class Verdict:
    """The verdict on one answer, as it grows."""

    def __init__(self, exercise, answer, result):
        self.answer, self.result = pathlib.Path(answer), pathlib.Path(result)
        self.data = {"status": "running", "at": "", "refused": "", "dims": exercise.DIMS, "outputs": "",
                     "cases": [], "budget": [], "predictions": [], "notes": [],
                     "learnt": exercise.LEARNT, "lesson": exercise.LESSON}

    def write(self):
        # In one step: the answer may be ended at any moment.
        temporary = self.result.with_name(self.result.name + ".new")
        temporary.write_text(json.dumps(self.data))
        temporary.replace(self.result)

    def case(self, shape, how, judged):
        """Judges one case: judged() returns what is wrong, or nothing."""
        self.data["at"] = f"{self.data['dims']} = {shape}" + (f" ({how})" if how else "")
        self.write()
        try:
            message = judged() or ""
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # an answer may raise anything, SystemExit too
            message = self.said(error)
        self.add_case(shape, how, message)

    def add_case(self, shape, how, message):
        self.data["cases"].append({"shape": shape, "how": how, "right": not message, "wrong_outputs": [],
                                   "message": message})

    def all_right(self):
        return all(case["right"] for case in self.data["cases"])

    def limit(self, what, counted, allowed, excess, per_element=False):
        """A cost: `excess` is the question for an answer that is over the limit."""
        self.data["budget"].append({"what": what, "counted": counted, "allowed": allowed,
                                    "per_element": per_element, "approximate": False,
                                    "over": counted > allowed, "excess": excess})

    def note(self, text):
        self.data["notes"].append(text)

    def refuse(self, why):
        """The file is not run, or not run to its end."""
        self.data["refused"] = why

    def finish(self):
        right = self.all_right() and not self.data["refused"]
        within = not any(limit["over"] for limit in self.data["budget"])
        self.data["status"] = "solved" if right and within and self.data["cases"] else "not yet"
        self.write()

    # --- Where something is, in the answer ---

    def line_text(self, number):
        lines = self.answer.read_text(errors="replace").splitlines()
        code = lines[number - 1].strip() if 0 < number <= len(lines) else ""
        return f"line {number}, `{code}`"

    def line_in(self, text):
        """The last line of the answer that a traceback names; None where it names none."""
        found = re.findall(rf'File "{re.escape(str(self.answer))}", line (\d+)', text)
        return int(found[-1]) if found else None

    def said(self, error):
        """An exception in one line: where in the answer, and what it says."""
        text = "".join(traceback.format_exception(error))
        number = self.line_in(text)
        where = self.line_text(number) if number else f"in {self.answer.name}"
        if type(error).__module__.startswith("torch._dynamo"):
            where = f"torch.compile stops at {where}"
        return f"{where}: {type(error).__name__}: {_beginning(str(error))}"


def _beginning(message):
    """The first line of a message, and from torch.compile's long ones the explanation and the hint."""
    lines = [line.strip() for line in message.strip().splitlines()] or [""]
    more = [line for line in lines[1:] if re.match(r"(Explanation|Hint): ", line)]
    return " ".join([lines[0], *more[:2]])


def load(path, name):
    """The module in a file, whatever the file is called."""
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def exercise_named(name):
    return load(FOLDER / name / "check.py", f"check_{name}")


def _loaded_answer(verdict, exercise):
    """The answer's module; None, with the reason in the verdict, where it cannot be loaded."""
    try:
        ast.parse(verdict.answer.read_bytes(), str(verdict.answer))
    except (SyntaxError, ValueError) as error:
        line = f"{verdict.line_text(error.lineno)}: " if getattr(error, "lineno", None) else ""
        return verdict.refuse(f"it is not Python: {line}{getattr(error, 'msg', error)}")
    try:
        module = load(verdict.answer, "answer")
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        return verdict.refuse(f"it cannot be imported: {verdict.said(error)}")
    missing = [name for name in exercise.NEEDS if not callable(getattr(module, name, None))]
    if missing:
        return verdict.refuse(f"it has no {missing[0]}{exercise.NEEDS[missing[0]]}, which the check calls")
    return module


def _judge_here(exercise, verdict):
    warnings.simplefilter("ignore")  # PyTorch's, about damaged graphs for example; the verdict says it better
    verdict.write()
    answer = _loaded_answer(verdict, exercise)
    if answer:
        exercise.check(answer, verdict)
    verdict.finish()


def _ended(status):
    """How a child ended that came to no verdict."""
    if os.WIFSIGNALED(status):
        return f"It crashed: {signal.strsignal(os.WTERMSIG(status))}"
    return f"The program ended itself with exit status {os.WEXITSTATUS(status)}: does the file call exit?"


def _note_end(verdict, message, trace):
    """Completes the verdict on an answer that crashed or did not end. `trace` is what faulthandler wrote."""
    verdict.data = json.loads(verdict.result.read_text())
    # faulthandler writes the innermost call first.
    found = re.search(rf'File "{re.escape(str(verdict.answer))}", line (\d+)', trace)
    where = f" It was in {verdict.line_text(int(found[1]))}." if found else ""
    at = verdict.data["at"].partition(" = ")[2] or "the import"
    shape, _, how = at.partition(" (")
    verdict.add_case(shape, how.removesuffix(")"), message + "." * (message[-1] != "?") + where)
    verdict.finish()


def _wait(child, seconds):
    """The child's status; None where it was still running after so many seconds and has been stopped."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            return status
        time.sleep(0.01)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return None


def judge(exercise, answer, result, seconds=SECONDS):
    """Judges an answer in a child of this process, which has imported torch and computed nothing yet."""
    verdict = Verdict(exercise, pathlib.Path(answer).resolve(), result)
    with tempfile.TemporaryFile("w+") as trace:
        child = os.fork()
        if child == 0:
            status = 1
            try:
                faulthandler.enable(trace)
                faulthandler.dump_traceback_later(max(seconds - 0.5, 0.5), file=trace)
                _judge_here(exercise, verdict)
                status = 0
            except Exception:
                traceback.print_exc()
            finally:
                sys.stdout.flush()
                sys.stderr.flush()
                os._exit(status)
        status = _wait(child, seconds)
        trace.seek(0)
        written = json.loads(pathlib.Path(result).read_text()) if pathlib.Path(result).exists() else {}
        if status is None:
            ended = f"Still running after {seconds:g} s, and stopped: an infinite loop?"
            _note_end(verdict, ended, trace.read())
        elif status != 0 and written.get("status") == "running":
            _note_end(verdict, _ended(status), trace.read())
        elif written.get("status") not in ("solved", "not yet"):
            _note_end(verdict, _ended(status), "")
    return json.loads(pathlib.Path(result).read_text())


def prepare(*exercises):
    """What every answer needs and takes long to import, before the first fork. No computation."""
    torch.set_num_threads(1)  # threads of the parent do not exist in a child
    if any(exercise.COMPILES for exercise in exercises):
        importlib.import_module("torch._dynamo.backends.debugging")  # has aot_eager


def main():
    if len(sys.argv) != 4:
        print(__doc__.strip(), file=sys.stderr)
        return BAD_USAGE
    name, answer, result = sys.argv[1:]
    exercise = exercise_named(name)
    prepare(exercise)
    judge(exercise, answer, result)
    return DONE


if __name__ == "__main__":
    sys.exit(main())
