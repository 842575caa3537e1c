"""The container has the packages that the launcher needs, and CI runs .ci/run."""

import json
import os
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from checks import ROOT, expect

TOOLS = {"git", "ca-certificates", "clangd"}  # for working in the container, not for the workbook


def launcher_packages():
    """The packages of the launcher's lists, but for the browser's."""
    lists = re.findall(r"^(run|test|lint|plot|book)_needs='([^']*)'", (ROOT / "workbook").read_text(), re.M)
    return {need.partition(":")[0] for _, needs in lists for need in needs.split()}


def main():
    expect("the launcher's lists were found", len(launcher_packages()) >= 10, launcher_packages())
    dockerfile = (ROOT / ".devcontainer/Dockerfile").read_text()
    installed = re.search(r"--no-install-recommends((?: *\\\n *[^&\n]*)+)&&", dockerfile)[1]
    packages = set(installed.replace("\\", " ").split())
    expect("the container has the launcher's packages", packages - TOOLS == launcher_packages(),
           f"they differ: {sorted((packages - TOOLS) ^ launcher_packages())}")
    settings = json.loads((ROOT / ".devcontainer/devcontainer.json").read_text())
    expect("the editor's settings name the Dockerfile",
           (ROOT / ".devcontainer" / settings["build"]["dockerfile"]).exists(), settings)

    workflow = (ROOT / ".github/workflows/ci.yml").read_text()
    commands = re.findall(r"run: (\S*/run)$", workflow, re.M)
    expect("CI runs .ci/run", commands == [".ci/run"] and os.access(ROOT / ".ci/run", os.X_OK), workflow)


main()
