"""Changing a function by its source: the statement of the file around it is compiled again, with other calls.

Only the function's code is taken from that, and only where the source, compiled as it stands, gives exactly
the code that the function has. So everything that is not changed on purpose is what it was.
"""

import __future__
import ast
import functools
import inspect
import linecache
import operator
import types
import warnings
from typing import Any, Iterator, NamedTuple

Place = tuple[Any, ...]
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


class Left(Exception):
    """Says why something stays as it is."""


class Reading(NamedTuple):
    text: str
    """The statement, behind as many empty lines as stand before it in its file."""
    node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
    imported: frozenset[str]


def place(node: ast.AST) -> Place:
    """Where a node stands. It finds the node in another tree of the same text."""
    return type(node), node.lineno, node.col_offset, node.end_lineno, node.end_col_offset


def contents(cell: types.CellType) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # empty
        return None


def closure_of(function: types.FunctionType) -> dict[str, types.CellType]:
    return dict(zip(function.__code__.co_freevars, function.__closure__ or ()))


def codes_in(code: types.CodeType) -> Iterator[types.CodeType]:
    """The code and those of the functions in it."""
    yield code
    for each in code.co_consts:
        if isinstance(each, types.CodeType):
            yield from codes_in(each)


def _first_line(node):
    return min(each.lineno for each in (node, *getattr(node, "decorator_list", ())))


@functools.lru_cache(256)
def _statements(text):
    """(first line, last line) of each statement of a file, and the names that it imports outside functions:
    the compiler makes other code for ``F.gelu(x)`` if F is one of them."""
    module, imported = ast.parse(text), set()
    pending = list(module.body)
    while pending:
        each = pending.pop()
        if isinstance(each, (ast.Import, ast.ImportFrom)):
            imported.update((name.asname or name.name).partition(".")[0] for name in each.names)
        elif not isinstance(each, (*FUNCTIONS, ast.ClassDef, ast.expr)):
            pending.extend(ast.iter_child_nodes(each))
    spans = []
    for each in module.body:
        if spans and _first_line(each) <= spans[-1][1]:  # several on one line
            spans[-1] = spans[-1][0], max(spans[-1][1], each.end_lineno)
        else:
            spans.append((_first_line(each), each.end_lineno))
    return spans, frozenset(imported - {"*"})


def _compiled(body, code, imported, helpers):
    """The code of the function that stands where `code` was, in which helpers are free variables."""
    features = [getattr(__future__, name).compiler_flag for name in __future__.all_feature_names]
    flags = code.co_flags & functools.reduce(operator.or_, features)

    def wrapped(names):
        """The statements in a function that has the helpers as parameters, and these names of the module."""
        outer = ast.parse(f"def _({', '.join(helpers)}): pass\n").body[0]
        declared = [ast.Global(names=sorted(names))] if names else []
        outer.body = [ast.copy_location(each, outer) for each in declared] + body
        imports = ast.parse("".join(f"import {each}\n" for each in sorted(imported))).body
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            module = compile(ast.Module([outer, *imports], []), code.co_filename, "exec", flags, True)
        return next(each for each in module.co_consts if isinstance(each, types.CodeType))

    outer = wrapped(())
    # Names that a statement of the module binds are global, and no variables of the function around it.
    outer = wrapped({*outer.co_varnames, *outer.co_cellvars} - set(helpers))
    found = [
        each for each in codes_in(outer)
        if each.co_firstlineno == code.co_firstlineno and each.co_name == code.co_name
        and getattr(each, "co_qualname", None) == getattr(code, "co_qualname", None)
    ]
    if len(found) != 1:
        raise Left("its code is not found in its source")
    nested = inspect.CO_NESTED  # which it is in the wrapper
    return found[0].replace(co_flags=found[0].co_flags & ~nested | code.co_flags & nested)


_readings: dict[int, tuple[types.CodeType, Reading | Left]] = {}  # by id of a code, which is kept alive


def read_source(function: types.FunctionType) -> Reading:
    """The source of a function. \\raises Left where there is none that is certain to be the function's."""
    code = function.__code__
    if id(code) not in _readings:
        try:
            reading = _read(code, linecache.getlines(code.co_filename, function.__globals__))
        except Left as reason:
            reading = reason
        _readings[id(code)] = code, reading
    reading = _readings[id(code)][1]
    if isinstance(reading, Left):
        raise Left(*reading.args)
    return reading


def _read(code, lines):
    if not lines:
        raise Left("there is no source of it")
    changed = Left("its source is not what was compiled")  # edited since, or changed by a tool
    try:
        spans, imported = _statements("".join(lines))
        start, end = next(span for span in spans if span[0] <= code.co_firstlineno <= span[1])
        text = "\n" * (start - 1) + "".join(lines[start - 1:end])
        body = ast.parse(text).body
    except (SyntaxError, StopIteration):
        raise changed from None
    kinds = (ast.Lambda,) if code.co_name == "<lambda>" else FUNCTIONS
    nodes = [
        each for statement in body for each in ast.walk(statement) if isinstance(each, kinds)
        and _first_line(each) == code.co_firstlineno and getattr(each, "name", "<lambda>") == code.co_name
    ]
    if len(nodes) > 1:
        raise Left("several functions begin on its line")
    if not nodes or _compiled(body, code, imported, ("_",)) != code:
        raise changed
    return Reading(text, nodes[0], imported)


def with_changes(function: types.FunctionType, change: ast.NodeTransformer,
                 helpers: dict[str, Any]) -> types.FunctionType:
    """The function compiled from its source after `change`, in which the names of helpers are known."""
    reading = read_source(function)
    body = [ast.fix_missing_locations(change.visit(each)) for each in ast.parse(reading.text).body]
    code = _compiled(body, function.__code__, reading.imported, tuple(helpers))
    cells = {**closure_of(function), **{name: types.CellType(value) for name, value in helpers.items()}}
    return copied(function, code, tuple(cells[name] for name in code.co_freevars))


def copied(function: types.FunctionType, code: types.CodeType, closure: tuple[types.CellType,
                                                                              ...]) -> types.FunctionType:
    result = types.FunctionType(code, function.__globals__, function.__name__, function.__defaults__, closure)
    functools.update_wrapper(result, function)
    del result.__wrapped__
    result.__dict__.update(function.__dict__)
    result.__kwdefaults__ = function.__kwdefaults__
    return result


# --- Decorators ---


def unwrapped(function: types.FunctionType) -> list[types.FunctionType]:
    """From a decorated function to the one that was written. \\raises Left if one of them hides the next."""
    chain = [function]
    while hasattr(chain[-1], "__wrapped__"):
        if hasattr(chain[-1], "_torchdynamo_orig_callable"):
            raise Left("it is compiled by torch.compile, whose backend does this")
        inner = chain[-1].__wrapped__
        held = [cell for cell in closure_of(chain[-1]).values() if contents(cell) is inner]
        if not isinstance(inner, types.FunctionType) or len(held) != 1:
            raise Left("a decorator has put it where it cannot be exchanged")
        chain.append(inner)
    return chain


def wrapped_again(chain: list[types.FunctionType], function: types.FunctionType) -> types.FunctionType:
    """The same decorators around another function."""
    for outer, inner in zip(reversed(chain[:-1]), reversed(chain[1:])):
        closure = tuple(
            types.CellType(function) if contents(cell) is inner else cell for cell in outer.__closure__)
        result = copied(outer, outer.__code__, closure)
        result.__wrapped__ = function
        function = result
    return function
