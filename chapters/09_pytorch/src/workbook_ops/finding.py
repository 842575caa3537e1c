"""Finding in the source of a method, for one module, the calls that the table may make one operator of.

They are found where nothing can see whether the first call is made at its place or at that of the second
one: in one expression, ``act(fc(x))``, or in two statements, ``h = fc(x)`` and ``y = act(h)``, between which
nothing happens and after which nobody reads h. The meaning of names is only guessed here; the guards decide.
"""

import ast
import builtins
import inspect
import types
from typing import Any, NamedTuple

from torch import nn

from . import patterns
from .source import FUNCTIONS, Place, closure_of, contents, place, read_source

UNKNOWN = object()
_SEES_VARIABLES = {
    "locals", "vars", "eval", "exec", "dir", "breakpoint", "_getframe", "currentframe", "stack"
}
_SCOPES = (*FUNCTIONS, ast.Lambda, ast.ClassDef, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_RUN_LATER = (*FUNCTIONS, ast.Lambda, ast.ClassDef, ast.GeneratorExp)


class Pair(NamedTuple):
    first: ast.expr
    second: ast.Call
    made: tuple[Place, tuple[str, ...]] | None = None
    """A statement, and the variables that need the first call's result after it."""

    def __str__(self) -> str:
        return f"{called(self.first)}, {called(self.second)}"


def called(node):
    return ast.unparse(node.func if isinstance(node, ast.Call) else node)


def _attribute(value, name):
    """value.name without running anything."""
    if isinstance(value, types.ModuleType):
        return vars(value).get(name, UNKNOWN)
    if not isinstance(value, nn.Module):
        return UNKNOWN
    static = inspect.getattr_static(type(value), name, UNKNOWN)
    if isinstance(static, property):
        return UNKNOWN
    for each in (vars(value), value._modules, value._parameters, value._buffers):
        if name in each:
            return each[name]
    is_value = isinstance(static, types.FunctionType) or not hasattr(static, "__get__")
    return static if is_value else UNKNOWN


def _bound_names(node):
    """The names that a function binds anywhere, those of functions in it included."""
    for each in ast.walk(node):
        if isinstance(each, ast.arg):
            yield each.arg
        elif isinstance(each, ast.Name) and not isinstance(each.ctx, ast.Load):
            yield each.id
        elif isinstance(each, ast.alias):
            yield (each.asname or each.name).partition(".")[0]
        elif isinstance(each, (*FUNCTIONS, ast.ClassDef, ast.ExceptHandler, ast.MatchAs, ast.MatchStar)):
            yield each.name
        elif isinstance(each, (ast.Global, ast.Nonlocal)):
            yield from each.names


def _names(node, name):
    return [each for each in ast.walk(node) if isinstance(each, ast.Name) and each.id == name]


def _assigned(statement):
    """(value, name) of a statement ``name = value``."""
    if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
        target = statement.targets[0]
    elif isinstance(statement, ast.AnnAssign):
        target = statement.target
    else:
        return None, None
    return (statement.value, target.id) if isinstance(target, ast.Name) else (None, None)


def _is_text(statement):
    return isinstance(statement, ast.Pass) or (isinstance(statement, ast.Expr)
                                               and isinstance(statement.value, ast.Constant))


class Finder:
    """`pairs`, and in `left` (call, reason) of calls that belong to the table and stay."""

    def __init__(self, function: types.FunctionType, module: nn.Module, known: patterns.Patterns) -> None:
        self.node, self.function, self.module, self.known = read_source(
            function).node, function, module, known
        bound = list(_bound_names(self.node))
        self.bound, self.closure = set(bound), closure_of(function)
        arguments = [*self.node.args.posonlyargs, *self.node.args.args]
        self.self_name = arguments[0].arg if arguments and bound.count(arguments[0].arg) == 1 else None
        self.pairs: list[Pair] = []
        self.left: list[tuple[ast.Call, str]] = []
        self._taken, self._reasons = set(), {}
        self._find()

    # What is called

    def resolve(self, node: ast.AST) -> Any:
        """The object that an expression names in this module now, without running anything."""
        if isinstance(node, ast.Name):
            if node.id == self.self_name:
                return self.module
            if node.id in self.bound:
                return UNKNOWN
            if node.id in self.closure:
                return contents(self.closure[node.id])
            return self.function.__globals__.get(node.id, getattr(builtins, node.id, UNKNOWN))
        if isinstance(node, ast.Attribute):
            name, owner = node.attr, self.function.__qualname__.split(".")[-2:-1]
            if name.startswith("__") and not name.endswith("__") and owner:  # of a class alone
                name = f"_{owner[0].lstrip('_')}{name}"
            return _attribute(self.resolve(node.value), name)
        if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant):
            value = self.resolve(node.value)
            if type(value) in (nn.ModuleList, nn.Sequential, nn.ModuleDict):
                return value._modules.get(str(node.slice.value), UNKNOWN)
        return UNKNOWN

    def kind(self, node: ast.AST) -> Any:
        """The kind of a call, None if it is not of the table, UNKNOWN if the source does not say."""
        if isinstance(node, ast.BinOp):
            return "sum" if isinstance(node.op, ast.Add) else None
        if not isinstance(node, ast.Call):
            return None
        value = self.resolve(node.func)
        if value is UNKNOWN:
            return UNKNOWN
        try:
            row = patterns.row_of(value)
        except TypeError:  # not hashable
            return None
        return row and row.kind

    def _may_be_pair(self, inner, outer):
        kinds = self.kind(inner), self.kind(outer)
        return kinds in self.known or kinds == (UNKNOWN, "gelu")

    # What happens in between

    def _is_pure(self, node):
        """Whether evaluating it only reads names, and attributes that are no properties."""
        if isinstance(node, ast.Attribute):
            return self.resolve(node) is not UNKNOWN
        if isinstance(node, (ast.Tuple, ast.List)):
            return all(map(self._is_pure, node.elts))
        if isinstance(node, ast.UnaryOp):
            return isinstance(node.operand, ast.Constant)
        return isinstance(node, (ast.Name, ast.Constant))

    def _comes_first(self, root, node):
        """Whether nothing but pure expressions is evaluated in root before the node."""
        if root is node:
            return True
        fields = {
            ast.Call: lambda: [root.func, *root.args, *(each.value for each in root.keywords)],
            ast.BinOp: lambda: [root.left, root.right],
            ast.Tuple: lambda: root.elts,
            ast.List: lambda: root.elts,
            ast.Attribute: lambda: [root.value],
            ast.Starred: lambda: [root.value],
            ast.Yield: lambda: [root.value],
            ast.Await: lambda: [root.value],
            ast.UnaryOp: lambda: [root.operand],
            ast.Subscript: lambda: [root.value, root.slice]
        }
        for each in fields.get(type(root), list)():
            if any(inner is node for inner in ast.walk(each)):
                return self._comes_first(each, node)
            if not self._is_pure(each):
                return False
        return False

    def _has_pure_options(self, outer):
        return all(map(self._is_pure, [*outer.args[1:], *(each.value for each in outer.keywords)]))

    # The search

    def _find(self):
        calls = [each for each in ast.walk(self.node) if isinstance(each, ast.Call)]
        calls.sort(key=lambda each: (self.kind(each) != "dropout", each.end_lineno, each.end_col_offset))
        for each in calls:
            if each.args and self._may_be_pair(each.args[0], each):
                self._take(
                    Pair(each.args[0], each), None if self._has_pure_options(each) else
                    "its other arguments are computed after the first call")
        fields = "body", "orelse", "finalbody"
        blocks = [getattr(each, name) for each in ast.walk(self.node) for name in fields
                  if isinstance(getattr(each, name, None), list)]
        for only in (("dropout",), ("gelu", "relu", "layer_norm", "rms_norm")):
            for block in blocks:
                self._search(block, only)
        for each in calls:
            if place(each) not in self._taken and (place(each) in self._reasons or self._is_gelu(each)):
                self.left.append((each, self._reasons.get(place(each)) or self._why(each)))

    def _is_gelu(self, call):
        value = self.resolve(call.func)
        return self.kind(call) == "gelu" or (isinstance(value, nn.Module)
                                             and "gelu" in type(value).__name__.lower())

    def _take(self, pair, reason):
        places = {place(pair.first), place(pair.second)}
        if places & self._taken:
            return
        if reason:
            self._reasons[place(pair.second)] = reason
        else:
            self._taken |= places
            self.pairs.append(pair)

    def _search(self, statements, only):
        """Two statements of one block, with nothing between them but other names for what is there; the
        second call has one of these kinds."""
        for i, statement in enumerate(statements):
            inner, name = _assigned(statement)
            if not isinstance(inner, (ast.Call, ast.BinOp)):
                continue
            names = [name]
            for later in statements[i + 1:]:
                value, other = _assigned(later)
                if isinstance(value, ast.Name) and value.id in names and self.kind(inner) == "sum":
                    names.append(other)
                elif not (_is_text(later) or isinstance(value, (ast.Name, ast.Constant))
                          and other not in names and getattr(value, "id", None) not in names):
                    self._try_statements(names, statement, inner, later, only)
                    break

    def _try_statements(self, names, statement, inner, later, only):
        outer = next((each for each in ast.walk(later)
                      if isinstance(each, ast.Call) and each.args and isinstance(each.args[0], ast.Name)
                      and each.args[0].id in names and self.kind(each) in only
                      and self._may_be_pair(inner, each)), None)
        if outer is None:
            return
        pattern = self.known.get((self.kind(inner), self.kind(outer)))
        reason = self._reason_to_leave(names, statement, later, outer, pattern is not None
                                       and pattern.has_both)
        made = None
        if pattern is not None and pattern.has_both and not isinstance(later, ast.Return):
            made = place(later), tuple(name for name in names if name != _assigned(later)[1])
        self._take(Pair(inner, outer, made), reason)

    def _reason_to_leave(self, names, statement, later, outer, has_both):
        uses = [each for name in names for each in _names(later, name) if isinstance(each.ctx, ast.Load)]
        if len(uses) > 1:
            return f"the result of {called(_assigned(statement)[0])} is used again at line {uses[1].lineno}"
        if not isinstance(later, (ast.Assign, ast.AnnAssign, ast.Return, ast.Expr, ast.AugAssign)):
            return f"it is in a statement of another kind, at line {later.lineno}"
        if isinstance(later, ast.AugAssign) and not isinstance(later.target, ast.Name):
            return f"line {later.lineno} reads something before it"
        if not self._comes_first(later.value, outer):
            return f"something else is computed before it, at line {outer.lineno}"
        if not self._has_pure_options(outer):
            return "its other arguments are computed after the first call"
        return self._reason_of_variables(names, statement, later, uses[0], has_both)

    def _reason_of_variables(self, names, statement, later, use, has_both):
        scope, between = self._surroundings(statement)
        if any(
                getattr(each, "id", getattr(each, "attr", None)) in _SEES_VARIABLES
                for each in ast.walk(scope)):
            return "the method looks at its own variables"
        if has_both and not isinstance(later, (ast.Assign, ast.AnnAssign, ast.Return)):
            return f"it is in a statement of another kind, at line {later.lineno}"
        for name in names:
            if any(
                    isinstance(each, (ast.Global, ast.Nonlocal)) and name in each.names
                    for each in ast.walk(self.node)):
                return f"{name} is not only a variable of the method"
            nested = [
                each for each in ast.walk(scope)
                if each is not scope and isinstance(each, _RUN_LATER) and _names(each, name)
            ]
            if nested:
                return f"{name} belongs to the function at line {nested[0].lineno} as well"
            again = [
                each for each in _names(scope, name)
                if not isinstance(each.ctx, ast.Store) and each is not use
            ]
            rebound = isinstance(later, ast.Return) or _assigned(later)[1] == name
            if again and not has_both and not rebound:
                again = [each for each in again if each.lineno > use.lineno] or again
                return (f"the result of {called(_assigned(statement)[0])} is used again at line "
                        f"{again[0].lineno}")
            if again:  # after an error between the two, the variable would have another value
                for each in between:
                    if (isinstance(each, (ast.Try, getattr(ast, "TryStar", ast.Try)))
                            or isinstance(each, (ast.With, ast.AsyncWith))
                            and not all(map(self._lets_errors_through, each.items))):
                        return f"an error would leave another {name} to line {each.lineno}"
        return None

    def _lets_errors_through(self, item):
        made = item.context_expr
        value = self.resolve(made.func if isinstance(made, ast.Call) else made)
        module = getattr(value, "__module__", None) or ""
        return module.partition(".")[0] == "torch" or getattr(value, "__qualname__", "") == "nullcontext"

    def _surroundings(self, statement):
        """The function around a statement, and the nodes between them."""
        parents = {id(child): node for node in ast.walk(self.node) for child in ast.iter_child_nodes(node)}
        path = [parents[id(statement)]]
        while not isinstance(path[-1], _SCOPES):
            path.append(parents[id(path[-1])])
        return path[-1], path[:-1]

    def _why(self, outer):
        """Why a GELU has no Linear before it."""
        if self.kind(outer) != "gelu":
            return f"a {type(self.resolve(outer.func)).__name__} is not known to be GELU"
        if not outer.args:
            return "its input is no positional argument"
        given = outer.args[0]
        if isinstance(given, ast.NamedExpr):
            return f"its input gets a name, {given.target.id}"
        if isinstance(given, ast.Name):
            made = [
                inner for inner, name in map(_assigned, ast.walk(self.node))
                if name == given.id and isinstance(inner, ast.Call) and inner.lineno < outer.lineno
            ]
            if made and self.kind(made[-1]) == "linear":
                return f"{given.id}, computed at line {made[-1].lineno}, goes through something else first"
            given = made[-1] if made else given
        if isinstance(given, ast.Call):
            value = self.resolve(given.func)
            if isinstance(value, nn.Module):
                return f"{called(given)} is a {type(value).__name__}, not a Linear"
        return "its input does not come from a Linear"


class Changes(ast.NodeTransformer):
    """Puts the helpers in front of the calls of pairs."""

    def __init__(self, pairs: list[Pair], first: str, second: str, made: str, add: str) -> None:
        self.helpers = {
            place(each.first): first
            for each in pairs
        } | {
            place(each.second): second
            for each in pairs
        }
        self.made = {each.made for each in pairs if each.made and each.made[1]}
        self.name_of_made, self.name_of_add = made, add

    def visit_Call(self, node: ast.Call) -> ast.Call:
        helper = self.helpers.get(place(node))
        self.generic_visit(node)
        if helper:
            node.args.insert(0, node.func)
            node.func = ast.copy_location(ast.Name(helper, ast.Load()), node.func)
        return node

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        helper = self.helpers.get(place(node))
        self.generic_visit(node)
        if not helper:
            return node
        called = ast.Name(helper, ast.Load())
        return ast.copy_location(
            ast.Call(called, [ast.Name(self.name_of_add, ast.Load()), node.left, node.right], []), node)

    def visit_Assign(self, node: ast.Assign) -> ast.AST | list[ast.AST]:
        after = [
            ast.copy_location(
                ast.Assign([ast.Name(name, ast.Store())],
                           ast.Call(ast.Name(self.name_of_made, ast.Load()), [ast.Name(name, ast.Load())],
                                    [])), node) for statement, names in self.made if statement == place(node)
            for name in names
        ]
        return [self.generic_visit(node), *after]

    visit_AnnAssign = visit_Assign
