"""Which Python `./workbook run 09` takes, and how it installs PyTorch where there is none.

The compilers, the Pythons and pip only pretend: nothing is built or downloaded.
"""

import os
import pathlib
import pty
import shutil
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from checks import ROOT, expect

LADDER = "import os; print('taken:', os.environ['PRETENDED'])"
# It sees the packages of $SITE alone, and makes an environment of the same kind.
PYTHON = f"""#!/bin/sh
PRETENDED=$0 PYTHONPATH=${{SITE-$(dirname "$0")/../site}}
export PRETENDED PYTHONPATH
[ "$1 $2" != "-m venv" ] || exec {{make}} "$4"
exec {sys.executable} -S "$@"
"""
MAKE = """#!/bin/sh
rm -rf "$1"
mkdir -p "$1/bin" "$1/site"
cp "{folder}/environment_python" "$1/bin/python"
cp "{folder}/pip" "$1/bin/pip"
"""
PIP = """#!/bin/sh
echo "$@" >>"{folder}/pip_calls"
[ ! -e "{folder}/slow" ] || sleep 60
[ ! -e "{folder}/broken" ] || exit 1
mkdir -p "$(dirname "$0")/../site/torch-2.11.0.dist-info"
echo 'Version: 2.11.0' >"$(dirname "$0")/../site/torch-2.11.0.dist-info/METADATA"
"""
CXX = "#!/bin/sh\necho '#define __GNUC__ 14'\n"
CMAKE = "#!/bin/sh\necho cmake version 3.31.0\n"
NINJA = "#!/bin/sh\n"


class Machine:
    """A copy of the launcher in `folder`, beside tools that pretend."""

    def __init__(self, folder):
        self.folder, self.cache = folder, folder / "cache" / "workbook" / "torch-2.11.0"
        for tool, text in {"c++": CXX, "cmake": CMAKE, "ninja": NINJA}.items():
            self.executable(folder / "bin" / tool, text)
        self.executable(folder / "make_environment", MAKE.format(folder=folder))
        self.executable(folder / "pip", PIP.format(folder=folder))
        python = PYTHON.replace("{make}", str(folder / "make_environment"))
        self.executable(folder / "environment_python", python)
        self.executable(folder / "bin" / "python3", python)
        chapter = folder / "tree" / "chapters" / "09_pytorch"
        (chapter / "src" / "workbook_ops").mkdir(parents=True)
        (chapter / "src" / "workbook_ops" / "__init__.py").touch()
        (chapter / "ladder.py").write_text(LADDER)
        (folder / "tree" / "build" / "pytorch").mkdir(parents=True)
        (folder / "tree" / "build" / "pytorch" / "_operators.so").touch()
        shutil.copy(ROOT / "workbook", folder / "tree")
        # The launcher's own program has been compiled.
        for name in ("common/system/build_inputs.cpp", "common/system/read_file.cpp"):
            (folder / "tree" / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / "tree" / name).touch()
        (folder / "tree" / "build" / "build_inputs.source").touch()
        self.executable(folder / "tree" / "build" / "build_inputs", NINJA)

    @staticmethod
    def executable(path, text):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        path.chmod(0o755)

    def site(self, version):
        """A folder of packages that has this version of PyTorch; none if that is empty."""
        folder = self.folder / f"site {version}"
        if version:
            (folder / f"torch-{version}.dist-info").mkdir(parents=True, exist_ok=True)
            (folder / f"torch-{version}.dist-info" / "METADATA").write_text(f"Version: {version}\n")
        return str(folder)

    def environment_with(self, name, version):
        """An environment, as a reader may have one."""
        python = self.folder / name / "bin" / "python"
        self.executable(python, (self.folder / "environment_python").read_text())
        shutil.copytree(self.site(version), self.folder / name / "site")
        return str(self.folder / name)

    def start(self, *words, stdin=subprocess.DEVNULL, active="", **environment):
        """Starts the launcher; `active` is the version of PyTorch that python3 has."""
        kept = {name: value for name, value in os.environ.items()
                if name not in ("CI", "WORKBOOK_NO_INSTALL", "WORKBOOK_TORCH", "CXX")}
        kept.update(PATH=f"{self.folder}/bin:{os.environ['PATH']}", XDG_CACHE_HOME=str(self.folder / "cache"))
        if active:
            kept["SITE"] = self.site(active)
        command = [self.folder / "tree" / "workbook", *words, "run", "09"]
        return subprocess.Popen(command, env={**kept, **environment}, text=True, stdin=stdin,
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT)

    def run(self, *words, **options):
        process = self.start(*words, **options)
        output = process.communicate(timeout=60)[0]
        return process.returncode, output

    def takes(self, what, python, *words, **options):
        status, output = self.run(*words, **options)
        expect(what, status == 0 and f"taken: {python}\n" in output, output)

    def refuses(self, what, text, *words, **options):
        status, output = self.run(*words, **options)
        expect(what, status == 3 and text in " ".join(output.split()), f"status {status}\n{output}")

    def answers(self, answer):
        """What happens if a reader on a terminal answers this."""
        ours, theirs = pty.openpty()
        os.write(ours, answer.encode())
        done = self.run(stdin=theirs)
        os.close(ours)
        os.close(theirs)
        return done


def check_choice(machine):
    active = machine.folder / "bin" / "python3"
    machine.takes("the active Python, if it has PyTorch 2.10", active, active="2.10.0")
    machine.takes("... or a newer one", active, active="3.0.1+cu140")
    machine.refuses("2.9 is too old", "which python3 does not have", active="2.9.1")
    named = machine.environment_with("an environment", "2.12.0")
    python = f"{named}/bin/python"
    machine.takes("WORKBOOK_TORCH goes before it", python, active="2.11.0", WORKBOOK_TORCH=named)
    machine.takes("... and may name a Python", python, WORKBOOK_TORCH=python)
    old = machine.environment_with("an old environment", "2.9.1")
    for wrong in (old, "/nowhere"):
        machine.refuses(f"... which must have PyTorch: {pathlib.Path(wrong).name}",
                        f"WORKBOOK_TORCH is {wrong}, which has no PyTorch 2.10", WORKBOOK_TORCH=wrong)


def check_consent(machine):
    machine.refuses("without a terminal, it says how to agree", "./workbook --yes")
    machine.refuses("WORKBOOK_NO_INSTALL goes before --yes", "WORKBOOK_NO_INSTALL is set", "--yes",
                    WORKBOOK_NO_INSTALL="1")
    status, output = machine.answers("n\n")
    expect("a reader can say no", status == 3 and "2.7 GB" in output, output)
    expect("nothing was installed so far", not machine.cache.exists())


def check_installation(machine):
    kept, slow, broken = machine.cache / "bin" / "python", machine.folder / "slow", machine.folder / "broken"
    broken.touch()
    machine.refuses("a failure is reported", "the installation has failed", CI="true")
    broken.unlink()

    slow.touch()
    (machine.folder / "pip_calls").unlink()
    process = machine.start("--yes")
    while not (machine.folder / "pip_calls").exists():
        time.sleep(0.05)
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=60)
    expect("it can be interrupted", process.returncode == -signal.SIGTERM, process.returncode)
    slow.unlink()

    (machine.cache / "left over").touch()
    status, output = machine.answers("y\n")
    expect("the next call installs it from the start", status == 0 and f"taken: {kept}\n" in output, output)
    expect("... in an empty folder", not (machine.cache / "left over").exists())
    (machine.folder / "pip_calls").unlink()
    machine.takes("and then it is there", kept)
    expect("... without pip", not (machine.folder / "pip_calls").exists())
    (machine.cache.parent / "torch-2.11.0.incomplete").touch()
    machine.refuses("half an environment is not taken", "./workbook --yes")
    machine.takes("the active Python goes before it", machine.folder / "bin" / "python3", active="2.11.0")


def main():
    with tempfile.TemporaryDirectory() as folder:
        machine = Machine(pathlib.Path(folder))
        check_choice(machine)
        check_consent(machine)
        check_installation(machine)


main()
