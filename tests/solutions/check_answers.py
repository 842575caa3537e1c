"""answers.py: what it makes of a file of answers, and what it says of one with a mistake."""

import pathlib
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from answers import Mistake, texts_of
from checks import expect

STAGE = """#pragma once

namespace DEVICE::x {

/// Two.
int two() {
  return 2;
}

}  // namespace DEVICE::x
"""
SOLUTION = """/// \\file
#pragma once
#include "device.hpp"

namespace DEVICE::x {

/// One.
int one() { return 1; }

// BEGIN SOLUTION
constexpr double kOne = one();
constexpr double kTwo = one() + one();
// SKELETON
// constexpr double kOne = 0;
// END SOLUTION

}  // namespace DEVICE::x
"""
FRAME = """// it
#pragma once
{}#include "device.hpp"

namespace DEVICE::x {{

{}

}}  // namespace DEVICE::x
"""
SLIP = "=== slip a: it | text\n"
ONE = "-int one() { return 1; }\n"

MADE = {  # an answer, and its file
    "=== right a: it\nint a;\n": FRAME.format("", "int a;"),
    "=== right a: it\n#include <math.h>\nint a;\n": FRAME.format("#include <math.h>\n", "int a;"),
    "=== right a: it\n@ one\n": FRAME.format("", "/// One.\nint one() { return 1; }"),
    "=== right a: it\n@ 1_two: two\n": FRAME.format("", "/// Two.\nint two() {\n  return 2;\n}"),
    "=== right a: it\n= 1 2.5\n":
        FRAME.format("", "constexpr double kOne = 1;\nconstexpr double kTwo = 2.5;"),
    SLIP + ONE + "+int one();\n": SOLUTION.replace("int one() { return 1; }", "int one();"),
    "=== wrong a of b: it | text\n-int b;\n+int a;\n\n=== right b: it\nint b;\n":
        FRAME.format("", "int a;"),
}
REFUSED = {  # a mistake, and what is said of it
    "=== almost a: it\nint a;\n": "FILE:3: an answer begins with `=== right NAME",
    "=== wrong a: it\nint a;\n": "FILE:3: a needs ` | text of the complaint`",
    "=== right a: it\n": "FILE:3: a has neither edits nor a body",
    "=== right a: it\nint a;\n\n=== wrong a: it | text\nint b;\n": "FILE:6: FILE:3 has an answer a already",
    SLIP + "int a;\n": "FILE:3: a is no edit of the solution",
    SLIP + "-int two();\n+int one();\n": "must fit the solution at one place and fits nowhere:\n-int two();",
    SLIP + "-\n+int a;\n": "at one place and fits line 4 and line 6",
    SLIP + ONE + "\n" + ONE: "two edits change line 8 of the solution",
    SLIP + ONE + "int one();\n": "`-`, `+` or a blank; this one does not:\nint one();",
    "=== wrong a of b: it | text\n-int b;\n": "FILE:3: a: no answer with a body has the name b",
    "=== right a: it\n@ two\n": "no definition is called two; there are one, kOne",
    "=== right a: it\n@ 2_two: two\n": "there is no 2_two.cuh in ",
    "=== right a: it\n= 1\n": "1 values for 2 numbers, kOne, kTwo",
}


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        path = folder / "FILE"
        solution, stage = folder / "solutions/x/1_x/solution.cuh", folder / "chapters/x/1_two.cuh"
        for file, text in ((solution, SOLUTION), (stage, STAGE)):
            file.parent.mkdir(parents=True)
            file.write_text(text)
        for answer, text in MADE.items():
            path.write_text("A comment.\n\n" + answer)
            made = texts_of(path, solution)
            expect(f"this is what {answer!r} makes", list(made.values())[0] == text, made)
        for answer, message in REFUSED.items():
            path.write_text("A comment.\n\n" + answer)
            said = said_of(path, solution)
            expect(f"this is refused: {answer!r}", message in said, said)


def said_of(path, solution):
    try:
        return f"it is accepted: {texts_of(path, solution)}"
    except Mistake as mistake:
        return str(mistake).replace(str(path), "FILE")


main()
