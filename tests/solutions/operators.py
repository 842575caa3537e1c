"""Mutants of an exercise's solution by rule, and the program that judges them.

    operators.py SOLUTION FOLDER    writes FOLDER/MUTANT.cuh, FOLDER/mutants.cu and FOLDER/mutants_main.cpp

Each changes one line of the solution's namespace, but not comments, the skeleton, or a kernel that the
solution no longer needs. Its name is OPERATOR_LINE_NUMBER.
"""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
TYPES = r"(const|constexpr|static|int|unsigned|float|double|bool|auto|char)\b"


def code_of(lines):
    """The lines without comments and without what the skeleton has."""
    skeleton = False
    for line in lines:
        skeleton = (skeleton or line.strip() == "// SKELETON") and line.strip() != "// END SOLUTION"
        yield "" if skeleton else re.sub(r"\s*//.*", "", line)


def code_lines(lines, answer):
    """(number, code) of the lines that may change: whole statements and loops. `answer` calls them."""
    code = list(code_of(lines))
    words = re.findall(r"\w+", "\n".join(code) + answer)
    inside, unused, before = False, False, ";"
    for at, line in enumerate(code):
        inside |= line.startswith("namespace ")
        if line.startswith("__global__"):
            unused = words.count(re.findall(r"(\w+)\(", line)[-1]) == 1
        whole = before.endswith((";", "{", "}", ")", ":")) and line.endswith((";", "{", ")"))
        if inside and whole and not unused and not line.startswith("namespace"):
            yield at, line
        unused = unused and line != "}"
        before = line or before


# --- Operators: each yields what may stand in place of a line ---


def barrier(code):
    """A barrier is left out."""
    if re.search(r"__sync(threads|warp)\((0x\w+)?\);", code):
        yield re.sub(r"\s*__sync(threads|warp)\([^)]*\);", "", code, count=1)


def comparison(code):
    """< and <=, > and >=, == and != are exchanged, except in a minimum or maximum."""
    other = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "=="}
    if code.lstrip().startswith(("template", "#")) or " ? " in code:
        return
    for found in re.finditer(r"(?<= )(<=|>=|==|!=|<|>)(?= )", code):
        yield code[:found.start()] + other[found[1]] + code[found.end():]


def index(code):
    """One more or less in an index."""
    if re.search(rf"__shared__|^\s*{TYPES}[^=(]*\[", code):
        return  # it declares an array
    for found in re.finditer(r"\[([^\[\]]+)\]", code):
        if not re.fullmatch(r"\w*\d", found[1]) and "]" + code[found.end():found.end() + 1] != "](":
            for change in (" + 1", " - 1"):
                yield code[:found.end(1)] + change + code[found.end(1):]


def guard(code):
    """`if (condition) statement`: the statement always, or never."""
    found = re.match(r"(\s*(?:\} else )?)if (?=\()", code)
    if not found:
        return
    ends = [i + 1 for i in range(found.end(), len(code)) if code[i] == ")"]
    end = next(i for i in ends if code[found.end():i].count("(") == code[found.end():i].count(")"))
    yield f"{found[1]}if (true){code[end:]}"
    yield f"{found[1]}if (false){code[end:]}"


def conjunct(code):
    """One half of a condition is left out."""
    if " = " in code.split("&&")[0]:
        return
    for found in re.finditer(r"([\w.\[\]+*/% ]+[<>=!]=? [\w.\[\]+*/% ]+) && ", code):
        yield code[:found.start()] + re.match(r"\s*", found[1])[0] + code[found.end():]
    for found in re.finditer(r" && ([\w.\[\]+*/% ]+ [<>=!]=? [\w.\[\]+*/% ]+)(?=\)| \?| &&)", code):
        yield code[:found.start()] + code[found.end():]


def which(code):
    """threadIdx and blockIdx, x and y, blockDim and gridDim are exchanged."""
    swaps = {"threadIdx.x": "blockIdx.x threadIdx.y", "threadIdx.y": "threadIdx.x",
             "blockIdx.x": "threadIdx.x", "blockIdx.y": "blockIdx.x", "blockDim.x": "gridDim.x",
             "gridDim.x": "blockDim.x"}
    for found in re.finditer(r"(threadIdx|blockIdx|blockDim|gridDim)\.[xy]", code):
        for other in swaps.get(found[0], "").split():
            yield code[:found.start()] + other + code[found.end():]


def loop(code):
    """A loop makes two steps at a time, or ends a step early."""
    found = re.match(r"(\s*)for \((.*?); (.*?); (.*?)\)(.*)$", code)
    if not found:
        return
    space, begin, condition, step, rest = found.groups()
    if "=" in begin:
        yield f"{space}for ({begin}; {condition}; {step}, {step}){rest}"
    if bound := re.match(r"(.*[<>]=?) (\w+)$", condition):
        yield f"{space}for ({begin}; {bound[1]} {bound[2]} - 1; {step}){rest}"


def grid(code):
    """One block fewer is launched."""
    found = re.match(r"(\s*launch\([\w<>, ]+?, )([^,]+)(, .*)$", code)
    if found and " " in found[2]:
        yield f"{found[1]}{found[2]} - 1{found[3]}"


def arithmetic(code):
    """+ and - are exchanged, and * becomes /, where values are computed."""
    other = {"+": "-", "-": "+", "*": "/"}
    if not re.search(r"[=(]|return", code) or re.match(r"\s*(__global__|template|for|if|#|launch\()", code):
        return
    for found in re.finditer(r"(?<=[\w)\]] )([+*-])(?= [\w(])", code):
        yield code[:found.start()] + other[found[1]] + code[found.end():]


def statement(code):
    """An assignment is left out."""
    if re.match(r"\s+[\w.]+(\[[^;=]*\])* [+*/|^&-]?= .*;$", code):
        yield ";"


OPERATORS = (barrier, comparison, index, guard, conjunct, which, loop, grid, arithmetic, statement)


def mutants(lines, answer):
    """{name: lines} of the mutants; what several operators make is there once."""
    found, seen = {}, set()
    for at, code in code_lines(lines, answer):
        for operator in OPERATORS:
            for number, changed in enumerate(operator(code)):
                if changed != code and (at, changed) not in seen:
                    seen.add((at, changed))
                    found[f"{operator.__name__}_{at + 1}_{number}"] = lines[:at] + [changed] + lines[at + 1:]
    return found


# --- The program ---


def sources(names, solution, check, folder):
    """The two files that add_exercise_versions() and add_exercise_program() of cmake/Exercises.cmake make of
    versions whose names are known there."""
    shared = sorted(solution.parents[1].glob("*.hpp")) + sorted((ROOT / "common" / "kernels").glob("*.hpp"))
    shared = [path for path in shared if not path.name.endswith((".gpu.hpp", ".sm90a.hpp"))]
    kernels = '#include "exercise.hpp"\n' + "".join(f'#include "{path}"\n' for path in shared)
    for name in names:
        kernels += f'\n#undef DEVICE\n#define DEVICE cpu::{name}\n#include "{folder / name}.cuh"\n'
        kernels += f'#include "{check}"\n'
    declarations = [f"namespace cpu::{name} {{\nworkbook::Answer answer();\n}}\n" for name in names]
    table = [f'{{"{name}", cpu::{name}::answer, "{folder / name}.cuh"}}' for name in names]
    main = (ROOT / "cmake" / "exercise_main.cpp.in").read_text()
    main = main.replace("@declarations@", "".join(declarations)).replace("@table@", ", ".join(table))
    return {"mutants.cu": kernels, "mutants_main.cpp": main.replace("@judge@", "judge_exercise")}


def write(solution, folder):
    check = solution.with_name("check.cu")
    found = mutants(solution.read_text().splitlines(), check.read_text())
    texts = {f"{name}.cuh": "\n".join(lines) + "\n" for name, lines in found.items()}
    texts |= sources(found, solution, check, folder)
    for name, text in texts.items():
        path = folder / name
        if not path.exists() or path.read_text() != text:
            path.write_text(text)
    for path in folder.glob("*.cuh"):
        if path.name not in texts:
            path.unlink()


if __name__ == "__main__":
    write(*(pathlib.Path(name).resolve() for name in sys.argv[1:]))
