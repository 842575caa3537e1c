"""Random command lines, damaged files and signals: no crash, no hang, no traceback, and nothing lost.

python3 tests/cli/check_fuzz.py build/bin --tries 600 --seed 25

Each try is made of its seed and its number alone: `--seed S --only N` makes it again. All tries work in
build/tests/fuzz, with a workbook that was compiled for that folder (fuzzed_workbook); the reader's files are
not touched. There, ninja and the programs that judge exercises are scripts, which end and write as the try
says: nothing is compiled. Chapter 01 is the real one; the others print their arguments.
Not tried: watch, which needs a terminal (check_watch.py), signals during a compile (check_interrupts.py), the
launcher's commands that build (check_launcher.py), docs/update.py beyond its options, and SIGINT to the
Python programs, which Python itself answers with a traceback while it starts (check_plots.py sends it later).
"""

import contextlib
import json
import os
import pathlib
import random
import shlex
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import time
from argparse import ArgumentParser

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from checks import ROOT, expect

LIMIT = 20  # seconds for one program; those of this test take less than one on an idle machine
BAD_TEXTS = ("Traceback", "terminate called", "Segmentation fault", "AddressSanitizer", "runtime error:",
             "core dumped", "Assertion")
CHAPTER = "01_multiply_add"
MARK = "WORKBOOK_FUZZ"  # in the environment of all that a try starts
HUGE = ("0", "-1", "1", "7", "33x65", "2147483647", "2147483648", "99999999999999999999", "1e9", "nan",
        "0x10", "1x1x1", "--", "-", "", " ", "\n", "%s%n", "../../x", "/dev/null", "/dev/full",
        "/nonexistent/x", "é", "'", "$(false)", "a" * 5000, b"\xff\xfe", b"\xc3", "{}", "{0}", "a,b,,", "=")

# --- The folder that is tried in ---


class Place:
    """The scratch copy, and how to bring it into a known state."""

    def __init__(self, programs):
        self.root = programs.parent / "tests" / "fuzz"
        self.bin = self.root / "build" / "bin"
        self.state = self.root / ".workbook"
        self.data = self.root / "data"
        self.chapter_program = programs / CHAPTER
        for name in ("solutions", "plots", "docs", "chapters", "cli"):
            shutil.rmtree(self.root / name, ignore_errors=True)
        for name in ("solutions", "plots", "docs"):
            # Exercises in Python are left out: a check of these takes seconds.
            left_out = shutil.ignore_patterns("__pycache__", "09_pytorch")
            shutil.copytree(ROOT / name, self.root / name, ignore=left_out)
        for lesson in (ROOT / "chapters").glob("*/lesson.json"):
            copy = self.root / lesson.relative_to(ROOT)
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(lesson, copy)
        for name in ("workbook", "CMakeLists.txt", "README.md"):
            shutil.copy(ROOT / name, self.root / name)
        chapters = sorted(path.parent.name for path in (ROOT / "chapters").glob("*/chapter.cu"))
        for chapter in chapters:
            script(self.bin / chapter, 'echo "$@"')
        (self.bin / CHAPTER).unlink()
        (self.bin / CHAPTER).symlink_to(self.chapter_program)
        (self.root / "cli" / "commands").mkdir(parents=True)
        shutil.copy(ROOT / "cli/commands/view.html", self.root / "cli/commands")
        script(self.bin / "play", 'echo "$@"\nwhile [ $# -gt 0 ]; do\n'
               '[ "$1" != --view ] || cp "$FUZZ_VIEW" "$2"; shift; done\n[ "$FUZZ_STATUS" != 1 ]')
        script(self.root / "tools" / "ninja", '[ -z "$FUZZ_NO_BUILD" ] || { echo "FAILED: $FUZZ_NO_BUILD"; '
               'echo c++; echo error: no; exit 1; }')
        # The chapter's first size alone, so that it is read and damaged in no time.
        measured = self.root / "plots" / "data" / "h200"
        self.measured = {name: json.dumps(json.loads((measured / name).read_text())[:1])
                         for name in (f"{CHAPTER}.json", f"peers_{CHAPTER}.json")}
        (self.root / "build" / "play.cu").write_text("")
        (self.root / "mine.cu").write_text("void play() {}\n")
        self.exercises = {}  # file: what the reader has written there
        for check in sorted((self.root / "solutions").glob("*/*/check.cu")):
            chapter, name = check.parent.parent.name, check.parent.name
            file = self.root / "chapters" / chapter / "exercises" / f"{name}.cuh"
            solution = check.with_name("solution.cuh").read_bytes()
            self.exercises[file] = solution + b"// the reader's \xe2\x88\x91\n"
            script(self.bin / f"check_{chapter}_{name}", 'cp "$FUZZ_VERDICT" "$2"; cat "$FUZZ_OUTPUT"\n'
                   '[ "$3" != view ] || cp "$FUZZ_VIEW" "$2"\n'
                   '[ -z "$FUZZ_SIGNAL" ] || kill "-$FUZZ_SIGNAL" $$\nexit "$FUZZ_STATUS"')

    def restore(self, chosen):
        """The files as they are before a try: two exercises solved, the others begun."""
        for folder in (self.state, self.data, self.root / "results"):
            shutil.rmtree(folder, ignore_errors=True)
            folder.unlink(missing_ok=True)
        self.state.mkdir()
        self.data.mkdir()
        for file, text in self.exercises.items():
            file.parent.mkdir(parents=True, exist_ok=True)
            if not file.is_file() or file.read_bytes() != text:  # to write all takes a tenth of a second
                file.write_bytes(text)
        keys = [f"{file.parent.parent.name}/{file.stem}" for file in self.exercises]
        solved = set(chosen.sample(keys, 2))
        standings = {key: {"solved": key in solved, "hints": chosen.randrange(3)} for key in keys}
        (self.state / "state.json").write_text(json.dumps({"schema": 1, "exercises": standings}))
        (self.state / "predictions.json").write_text(json.dumps(
            {"schema": 1, "answers": {CHAPTER: {"01_unfused read": "16", "gone": "x"}}}))
        for name, text in self.measured.items():
            (self.data / name).write_text(text)
        (self.data / "verdict.json").write_text(json.dumps(VERDICT))
        (self.data / "trace.json").write_text(json.dumps(TRACE))
        (self.data / "view.json").write_text(json.dumps(VIEW))
        # The output of a reader's program. It is no file of the project, which might hold the words of
        # BAD_TEXTS.
        (self.data / "printed.txt").write_text("".join(f"x[{i}] = {i / 3}\n" for i in range(500)))
        (self.data / "printed.bin").write_bytes(bytes(range(256)) * 300)


def script(path, text):
    """A program of one shell script."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.unlink(missing_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)


VERDICT = {"schema": 1, "status": "solved", "at": "N = 1", "refused": "", "dims": "N",
           "cases": [{"shape": "1", "how": "", "right": True, "message": ""},
                     {"shape": "33", "how": "in place", "right": False, "message": "out: wrong"}],
           "budget": [{"what": "launches", "counted": 1.0, "allowed": 1.0, "per_element": False,
                       "approximate": False, "over": False, "excess": "too many"}],
           "predictions": [], "notes": ["a note"], "lesson": "docs/x.md", "learnt": "a lot"}
VIEW = {"schema": 1, "title": "x", "at": "", "result": "", "messages": [
            {"kind": "finding", "text": "out of bounds", "places": [{"file": 0, "line": 1}]}],
        "files": [{"name": "x.cu", "first": 1, "lines": ["x"]}], "text": "lines", "launches": [
            {"kernel": "k", "grid": [1, 1, 1], "block": [32, 1, 1], "counts": {}, "sites": [
                {"file": 0, "line": 1, "operation": "load", "space": "global", "array": "x", "bytes": 4,
                 "counts": {}}], "warps": []}]}
TRACE = {"schema": 1, "chapter": CHAPTER, "shape": [32], "commit": "x", "stages": [
    {"name": "01_unfused", "idea": "x", "launches": [{"kernel": "k", "grid": [1, 1, 1], "block": [32, 1, 1],
                                                     "requests": [
        {"place": "a:1", "operation": "load", "space": "global", "array": "q", "bytes": 4,
         "offsets": [4 * lane for lane in range(32)], "sectors": 4, "wavefronts": 1}]}]}]}

# --- Damage ---


def changed_value(value, chosen):
    """The JSON value with one value in it replaced by one of another type or size."""
    if isinstance(value, dict) and value and chosen.random() < 0.85:
        key = chosen.choice(sorted(value))
        if chosen.random() < 0.1:
            return {k: v for k, v in value.items() if k != key}
        return {**value, key: changed_value(value[key], chosen)}
    if isinstance(value, list) and value and chosen.random() < 0.85:
        i = chosen.randrange(len(value))
        return value[:i] + [changed_value(value[i], chosen)] + value[i + 1:]
    return chosen.choice((None, True, -1, 0, 2 ** 31, 2 ** 64, -0.5, 1e308, float("nan"), "", "x", "$x_{$",
                          "\0", "é" * 300, "../../x", [], {}, [[]], {"x": None}))


def damage(file, chosen):
    """Damages a file in one of several ways, and says how."""
    content = file.read_bytes()
    how = chosen.choice(("cut", "flipped", "value", "value", "value", "empty", "folder", "unreadable", "gone",
                         "dangling", "deep"))
    if how == "cut":
        file.write_bytes(content[:chosen.randrange(len(content))])
    elif how == "flipped":
        flipped = bytearray(content)
        for _ in range(chosen.randrange(1, 4)):
            flipped[chosen.randrange(len(flipped))] ^= 1 << chosen.randrange(8)
        file.write_bytes(flipped)
    elif how == "value":
        file.write_text(json.dumps(changed_value(json.loads(content), chosen)))
    elif how == "empty":
        file.write_bytes(b"")
    elif how == "deep":
        file.write_text("[" * 100000)
    elif how == "unreadable":
        file.chmod(0)
    else:
        file.unlink()
        if how == "folder":
            file.mkdir()
        elif how == "dangling":
            file.symlink_to("nowhere")
    return f"{file.name}: {how}"


# --- Command lines ---


def some(chosen, words, most):
    return [chosen.choice(words) for _ in range(chosen.randrange(most + 1))]


def workbook_words(place, chosen):
    """A command of build/bin/workbook with words that it knows, and some that it does not."""
    names = ["01.1", "01", "1_fuse", "01.1_fuse", "02.1", "05.1",
             "chapters/01_multiply_add/exercises/1_fuse.cuh"]
    command = chosen.choice(("", "list", "check", "check", "hint", "diff", "solution", "reset", "run", "play",
                             "bench", "plots", "completion", "skeleton", "chapters", "--help", "--version",
                             "watch", "cehck", "predict", "predict", "view", "view"))
    if command == "run" and chosen.random() < 0.8:
        return [place.bin / "workbook", "run", "01", *chapter_words(chosen)]
    if command == "plots":  # with a folder that is not there: without one it draws for minutes
        asks = some(chosen, ["chapters"], 1)
        return [place.bin / "workbook", *asks, "plots", "/nonexistent", *some(chosen, HUGE, 1)]
    words = names + ["--all", "--json", "--reveal", "--device", "cpu", "gpu", "--note", "bounds", "--out",
                     "results", "bash", "zsh", "-h", "mine.cu", "run",
                     "solutions/01_multiply_add/1_fuse/solution.cuh"]
    if chosen.random() < 0.7:
        own = {"check": ["--all"], "hint": ["--all"], "diff": ["--reveal"], "solution": ["--reveal"],
               "list": ["--json"], "reset": [], "predict": ["--json"],
               "play": ["--json", "--device", "cpu", "gpu", "--lines", "--note", "bounds"],
               "view": ["--lines", "--out", "results", "--size", "5", "--note", "bounds"]}
        files = {"list": [], "play": ["mine.cu"], "view": [*names, "mine.cu", "mine.cu"],
                 "predict": ["01", "1", "00", "0"]}.get(command, names)
        return [place.bin / "workbook", *filter(None, [command]), *some(chosen, files, min(1, len(files))),
                *some(chosen, own.get(command, [""]), min(1, len(own.get(command, []))))]
    first = [chosen.choice(names)] if chosen.random() < 0.5 else []
    rest = first + some(chosen, words, 3) + some(chosen, HUGE, 1)
    chosen.shuffle(rest)
    return [place.bin / "workbook", *([command] if command else []), *rest]


def chapter_words(chosen):
    """Options of a chapter's program, at sizes that take no time."""
    values = {"--device": ["auto", "cpu", "gpu", "tpu"], "--size": ["1", "33", "1000"],
              "--stage": ["01_unfused", "02_fused", "01_unfused,01_unfused", "9_none"],
              "--json": ["data/out.json"],
              "--model": ["h200", "H200", "none"], "--trace": ["data/out.json"], "--note": ["bounds",
                                                                                            "uninitialised"]}
    flags = ["--sustained", "--resources", "--once", "--take-turns", "--lines", "--help", "--nonsense"]
    words = ["--size", "100"] if chosen.random() < 0.9 else []
    for _ in range(chosen.randrange(4)):
        option = chosen.choice([*values, *flags])
        words.append(option)
        if option in values:
            good = chosen.random() < 0.7
            words.append(chosen.choice(values[option] if good else HUGE))
    return words


def chapter(place, chosen):
    return [place.chapter_program, *chapter_words(chosen)]


def python_words(place, chosen):
    """A Python program, with files that may be damaged."""
    name = chosen.choice(("plots/plot.py", "plots/plot.py", "plots/peers.py", "plots/limits.py",
                          "docs/update.py"))
    words = {"plots/plot.py": ["data", "--compare", "data", "--counts", "--out", "data/out"],
             "plots/peers.py": ["data", "--programs", str(place.bin), "--chapters", CHAPTER, "--shapes", "1"],
             "plots/limits.py": [str(place.bin / CHAPTER), "100", "data/out.json", "01_unfused"],
             "docs/update.py": [str(place.bin), "--check"]}[name]
    if name == "docs/update.py":  # it ends with its help: to quote takes all programs, and minutes
        return [sys.executable, place.root / name, "--check", *some(chosen, ["--nonsense", *HUGE], 2),
                "--help"]
    if name == "plots/plot.py" and chosen.random() < 0.7:
        what = ["data"] if chosen.random() < 0.5 else ["--trace", "data/trace.json"]
        return [sys.executable, place.root / name, *what, "--out", chosen.choice(["data/out", "/dev/full"])]
    least = 1 if name == "plots/plot.py" else 0  # with none it draws all figures of the repository
    return [sys.executable, place.root / name, *words[:chosen.randrange(least, len(words) + 1)],
            *some(chosen, HUGE, 2)]


def launcher_words(place, chosen):
    first = chosen.choice((["--version"], ["doctor"], ["doctor", "--help"], ["docs", "--help"], ["test",
                                                                                                 "--help"]))
    return [place.root / "workbook", *first, *some(chosen, HUGE, 2)]


# --- One try ---


class Try:
    """The steps of one try, which follow from the seed and the number."""

    def __init__(self, place, seed, number):
        chosen = random.Random(f"{seed} {number}")
        place.restore(chosen)
        kind = chosen.choices((workbook_words, chapter, python_words, launcher_words), (12, 4, 3, 0.3))[0]
        words = kind(place, chosen)
        self.words = [os.fsencode(word).replace(b"\0", b"") for word in words]
        self.damages = []
        files = [place.data / f"{CHAPTER}.json", place.data / "trace.json"] if kind == python_words else []
        if kind == workbook_words:
            files = [place.state / "state.json", place.state / "predictions.json",
                     place.data / "verdict.json", place.data / "view.json"]
        for file in files:
            if chosen.random() < 0.5:
                self.damages.append(damage(file, chosen))
        answers = [os.fsencode(answer) for answer in ("16", "8", "?", "q", "y", "3/2", *HUGE)]
        self.typed = b"\n".join(some(chosen, answers, 30)) if chosen.random() < 0.7 else b""
        self.output = chosen.choices(("read", "closed", "full"), (8, 1, 1))[0]
        signals = [signal.SIGTERM] if kind == python_words else [signal.SIGINT, signal.SIGTERM]
        self.signal = chosen.choice(signals) if chosen.random() < 0.25 else None
        self.delay = chosen.random() ** 2 * (1 if kind == python_words else 0.1)
        self.environment = {"FUZZ_NO_BUILD": chosen.choice(("", "", "check_01_multiply_add_1_fuse ",
                                                            "other ")),
                            "FUZZ_STATUS": chosen.choice(("0", "0", "0", "1", "3", "77")),
                            "FUZZ_SIGNAL": chosen.choice(("", "", "", "FPE", "KILL")),
                            "FUZZ_VIEW": str(place.data / "view.json"),
                            "FUZZ_VERDICT": str(place.data / "verdict.json"),
                            "FUZZ_OUTPUT": chosen.choice(("/dev/null", str(place.data / "printed.txt"),
                                                          str(place.data / "printed.bin")))}

    def __str__(self):
        call = " ".join(shlex.quote(word.decode(errors="backslashreplace"))[:300] for word in self.words)
        sent = f", {self.signal.name} after {self.delay:.3f} s" if self.signal else ""
        shown = {k: v for k, v in self.environment.items() if v}
        return f"{call}\n  damaged: {self.damages}; output {self.output}{sent}\n  {shown}"

    def run(self, place):
        """Runs it. Returns the exit status (None if it did not end) and the output."""
        environment = {**os.environ, **self.environment, MARK: str(os.getpid()), "CUDA_VISIBLE_DEVICES": "",
                       "PATH": f"{place.root / 'tools'}:{os.environ['PATH']}"}
        with tempfile.TemporaryFile() as printed:
            with tempfile.TemporaryFile() as typed:
                typed.write(self.typed)
                typed.seek(0)
                program = subprocess.Popen(self.words, stdin=typed, stdout=self.stdout(printed),
                                           stderr=printed, cwd=place.root, env=environment,
                                           start_new_session=True)
            self.session = program.pid
            status = self.wait(program)
            printed.seek(0)
            return status, printed.read(1 << 20).decode(errors="replace")

    def stdout(self, printed):
        if self.output == "full":
            return open("/dev/full", "wb")
        if self.output == "closed":
            reader, writer = os.pipe()
            os.close(reader)
            return os.fdopen(writer, "wb")
        return printed

    def wait(self, program):
        try:
            if self.signal:
                try:
                    return program.wait(self.delay)
                except subprocess.TimeoutExpired:
                    program.send_signal(self.signal)
            return program.wait(LIMIT)
        except subprocess.TimeoutExpired:
            program.kill()
            program.wait()
            return None

    def accepts(self, status):
        if status is None:
            return False
        return 0 <= status <= 3 or self.signal and status == -self.signal \
            or self.output == "closed" and status == -signal.SIGPIPE


# --- What must hold afterwards ---


def belongs_to_try(process, session):
    """Whether the try has started it: it has the environment's mark, or it is in the try's session, since a
    process that is just starting another program has no environment for a moment."""
    mark = f"{MARK}={os.getpid()}".encode()
    if mark in (process / "environ").read_bytes().split(b"\0"):
        return True
    state, _, _, its_session = (process / "stat").read_text(errors="replace").rpartition(")")[2].split()[:4]
    return int(its_session) == session and state != "Z"


def left_processes(session):
    """The processes that a try has started and that are still there, after a moment in which they may end."""
    for _ in range(40):
        left = []
        for process in pathlib.Path("/proc").glob("[0-9]*"):
            try:
                if belongs_to_try(process, session):
                    left.append((process / "cmdline").read_bytes())
            except OSError:
                continue  # it has ended, or belongs to another user
        if not left:
            return []
        time.sleep(0.05)
    return left


def contents(folder):
    """The contents of all files in a folder."""
    return [content_of(path) for path in folder.rglob("*") if stat.S_ISREG(path.lstat().st_mode)]


def content_of(path):
    """The content of a file that may be unreadable, and stays so."""
    mode = path.stat().st_mode
    path.chmod(0o600)
    try:
        return path.read_bytes()
    finally:
        path.chmod(mode)


def lost_exercises(place):
    """The reader's files that are neither in their place nor kept by a reset."""
    kept = contents(place.state / "kept")
    return [file for file, text in place.exercises.items()
            if not (file.is_file() and file.read_bytes() == text) and text not in kept]


def standings(content):
    """{exercise: (solved, hints)} of a state file; None if it is damaged."""
    try:
        state = json.loads(content)
        found = {key: (one["solved"], one["hints"]) for key, one in state["exercises"].items()}
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None
    right = all(type(solved) is bool and type(hints) is int and 0 <= hints < 2 ** 31
                for solved, hints in found.values())
    return found if right and state["schema"] == 1 else None


def lost_state(place, before, words):
    """The fault of the state after a try; nothing when the state is kept."""
    file = place.state / "state.json"
    if before is None:
        return ""  # no file before
    if before in contents(place.state):
        return ""  # as it was, or set aside as it was
    old, new = standings(before), standings(content_of(file)) if file.is_file() else None
    if new is None:
        return "the state is gone or damaged"
    if old is None:
        return "a damaged state was thrown away"
    changed = [key for key in old if new.get(key, (False, -1)) < old[key]]
    allowed = len(old) if b"check" in words else 1 if b"reset" in words else 0
    return f"worse than before: {changed}" if len(changed) > allowed else ""


def mistake(one, place):
    """Makes the try, and returns what is wrong; nothing when all is well."""
    file = place.state / "state.json"
    before = content_of(file) if file.is_file() else None
    status, output = one.run(place)
    found = []
    if not one.accepts(status):
        found.append("it did not end" if status is None else f"exit status {status}")
    found += [f"it says {text}" for text in BAD_TEXTS if text in output]
    found += [f"still running: {process}" for process in left_processes(one.session)]
    found += [f"lost: {file}" for file in lost_exercises(place)]
    if not found and b"reset" not in one.words:
        found += [f"changed: {path}" for path, text in place.exercises.items() if path.read_bytes() != text]
    found += filter(None, [lost_state(place, before, one.words)])
    return "; ".join(found) and f"{'; '.join(found)}\n{output[-3000:]}"


def notices_bad_programs(place):
    """This test finds what is wrong with programs that do each of these things in one try."""
    program = place.root / "tools" / "bad"
    for what, text in (("crashes", "kill -SEGV $$"), ("ends with status 4", "exit 4"), ("hangs",
                                                                                        "exec sleep 100"),
                       ("shows a traceback", "echo 'Traceback (most recent call last):' >&2"),
                       ("leaves a process", "sleep 100 >/dev/null 2>&1 &"),
                       ("leaves a process without its environment", "env -i sleep 100 >/dev/null 2>&1 &"),
                       ("empties an exercise", ": >chapters/01_multiply_add/exercises/1_fuse.cuh"),
                       ("removes the state", "rm .workbook/state.json"),
                       ("forgets the state",
                        "echo '{\"schema\": 1, \"exercises\": {}}' >.workbook/state.json")):
        script(program, text)
        one = Try(place, "bad programs", 0)
        place.restore(random.Random(0))
        one.words, one.output, one.signal = [os.fsencode(program)], "read", None
        global LIMIT
        limit, LIMIT = LIMIT, 1
        expect(f"a program that {what} is found", mistake(one, place))
        LIMIT = limit
        with contextlib.suppress(ProcessLookupError):  # so that the next try does not find what this one left
            os.killpg(one.session, signal.SIGKILL)


def main():
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("programs", type=pathlib.Path, help="folder of the built programs")
    parser.add_argument("--tries", type=int, default=600, help="about ten a second")
    parser.add_argument("--seed", type=int, default=25)
    parser.add_argument("--only", type=int, help="make this try alone, and show it")
    options = parser.parse_args()
    place = Place(options.programs.resolve())
    if options.only is not None:
        one = Try(place, options.seed, options.only)
        print(one, flush=True)
        sys.exit(mistake(one, place) or 0)
    notices_bad_programs(place)
    for number in range(options.tries):
        one = Try(place, options.seed, number)
        wrong = mistake(one, place)
        if wrong:
            sys.exit(f"FAILED: --seed {options.seed} --only {number}\n{one}\n{wrong}")
    expect(f"{options.tries} tries with seed {options.seed}", options.tries > 0)


if __name__ == "__main__":
    main()
