"""`rewrite`: a model's methods with operators in them.

A module gets a class derived from its own, in which the methods that have a pair of the table are those of
the class with helpers in front of the two calls. Nothing is run and nothing is recorded.
"""

import dataclasses
import operator
import os
import types
from typing import Any

import torch
from torch import nn

from . import formulas, patterns
from .finding import Changes, Finder, Pair, called
from .source import Left, closure_of, codes_in, contents, place, unwrapped, with_changes, wrapped_again


@dataclasses.dataclass
class Report:
    """What `rewrite` has done. Its str() is a line for each entry."""

    replaced: list[str] = dataclasses.field(default_factory=list)
    """``"Block.forward (file.py:31) self.fc, self.act in blocks.0 and 11 more"``: two calls that are one
    operator now; ``"0, 1"`` in an nn.Sequential."""
    left: list[str] = dataclasses.field(default_factory=list)
    """The same, ``": REASON"`` and the modules: a GELU, or a pair, that is as it was."""

    def __str__(self) -> str:
        return "\n".join([f"replaced {entry}"
                          for entry in self.replaced] + [f"left {entry}"
                                                         for entry in self.left]) or "nothing to replace"


class _Entries(dict[tuple[bool, str], list[str]]):
    """(whether it is replaced, what): the names of the modules."""

    def add(self, replaced: bool, what: str, name: str) -> None:
        self.setdefault((replaced, what), []).append(name)

    def report(self) -> Report:
        result = Report()
        for (replaced, what), names in self.items():
            where = f" in {names[0]}" if names[0] else ""
            more = f" and {len(names) - 1} more" if len(names) > 1 else ""
            (result.replaced if replaced else result.left).append(f"{what}{where}{more}")
        return result


# --- The derived class ---


class Rewritten:
    """Stands before the class of a module that was rewritten."""

    _workbook_class: type[nn.Module]
    _workbook_dropout: bool

    def __init_subclass__(cls, **kwargs: Any) -> None:
        """Does not ask the module's class, for which this is no new subclass."""

    def __reduce_ex__(self, protocol: Any) -> Any:
        """Copied and pickled as an object of its class, which is rewritten when it has got its state."""
        reduced = super().__reduce_ex__(max(protocol, 2))
        if not isinstance(reduced, tuple):
            return reduced
        function, args, *rest = reduced
        cls, original = type(self), self._workbook_class
        args = tuple(original if each is cls else each for each in args)
        return _made_again, (self._workbook_dropout, function, *args), *rest

    def __setstate__(self, state: Any) -> None:
        if hasattr(super(), "__setstate__"):
            super().__setstate__(state)  # type: ignore[misc]
        else:
            self.__dict__.update(state)
        _rewrite_module(self, "", self._workbook_dropout, _learned_names(self), _Entries())


def _made_again(dropout, function, *args):
    module = function(*args)
    module.__class__ = _derived(type(module), {}, dropout)
    return module


_classes: dict[Any, type] = {}


def _derived(cls, methods, dropout):
    """A subclass with these methods, made without the metaclass's or the class's knowing."""
    key = cls, tuple(sorted((name, id(method)) for name, method in methods.items())), dropout
    if key not in _classes:
        inside = {
            **methods, "__module__": cls.__module__,
            "__qualname__": cls.__qualname__,
            "__doc__": cls.__doc__,
            "_workbook_class": cls,
            "_workbook_dropout": dropout
        }
        _classes[key] = type.__new__(type(cls), cls.__name__, (Rewritten, cls), inside)
    return _classes[key]


def _class_of(module):
    return getattr(type(module), "_workbook_class", type(module))


# --- Methods ---


def _learned_names(model):
    """Learns the classes of a model. Returns names of which the source of a method with a pair has at least
    one: the other methods are not read."""
    for module in model.modules():
        formulas.learn(module)
    names = {each.__name__ for each in patterns.ROWS if not isinstance(each, type)}
    for path, module in model.named_modules(remove_duplicate=False):
        if type(module) in patterns.ROWS or "gelu" in type(module).__name__.lower():
            names.update(path.split(".")[-2:])
    return names


def _may_have_pairs(function, module, names):
    mentioned = {name for each in codes_in(function.__code__) for name in each.co_names + each.co_freevars}
    values = [vars(module).get(each) for each in mentioned]
    values += [
        contents(closure_of(function).get(each))
        if each in closure_of(function) else function.__globals__.get(each) for each in mentioned
    ]
    return bool(mentioned & names) or any(
        type(each) in patterns.FUNCTIONS and each in patterns.ROWS for each in values)


def _methods(cls):
    """(name, class that has it, function) of all that a class has from classes other than nn.Module."""
    seen = set()
    for each in cls.__mro__[:cls.__mro__.index(nn.Module)]:
        for name, value in vars(each).items():
            if name not in seen and (isinstance(value, types.FunctionType) or name == "forward"):
                yield name, each, value
            seen.add(name)


_HELPERS = "_workbook_first", "_workbook_second", "_workbook_made", "_workbook_add"
_changed: dict[Any, Any] = {}  # (method, its pairs, with dropout): the method with helpers


def _with_helpers(method, chain, pairs: list[Pair], dropout):
    key = method, tuple((place(each.first), place(each.second), each.made) for each in pairs), dropout
    if key not in _changed:
        helpers = patterns.HELPERS[dropout]
        values = dict(zip(_HELPERS, (helpers.first, helpers.second, helpers.made, operator.add)))
        _changed[key] = wrapped_again(chain, with_changes(chain[-1], Changes(pairs, *_HELPERS), values))
    return _changed[key]


def _why_not_now(module):
    """Why calls of a module that the table knows are not fused as it is; None if they may be."""
    if not isinstance(module, nn.Module):
        return None
    if not patterns.is_plain(module):
        return "has hooks or a forward of its own"
    kinds = [
        type(each).__name__ for each in module._parameters.values()
        if each is not None and not patterns.is_ordinary(each)
    ]
    return f"has a {kinds[0]}" if kinds else None


def _rewritten_method(method, owner, name, module, dropout, names, add):
    """The method with helpers, or None. \\raises Left"""
    chain = unwrapped(method)
    if not _may_have_pairs(chain[-1], module, names):
        return None
    finder = Finder(chain[-1], module, patterns.HELPERS[dropout].patterns)
    where = f"{owner}.{name} ({os.path.basename(chain[-1].__code__.co_filename)}:"
    for call, reason in finder.left:
        add(False, f"{where}{call.lineno}) {called(call)}: {reason}")
    if finder.pairs and name in vars(module):
        raise Left(f"the module has a {name} of its own")
    for pair in finder.pairs:
        calls = [each for each in (pair.first, pair.second) if hasattr(each, "func")]
        reasons = [
            f": {called(each)} {reason}" for each in calls
            if (reason := _why_not_now(finder.resolve(each.func)))
        ]
        add(not reasons, f"{where}{pair.second.lineno}) {pair}{''.join(reasons[:1])}")
    return _with_helpers(method, chain, finder.pairs, dropout) if finder.pairs else None


def _sequential_pairs(module, name, dropout, add):
    """Whether an nn.Sequential has a pair among its children."""
    children, found, taken = list(module._modules.items()), False, None
    known, modules = patterns.HELPERS[dropout].patterns, list(module._modules.values())
    for i, ((a, one), (b, two)) in enumerate(zip(children, children[1:])):
        row, prefix = patterns.row_of(one), f"{name}." if name else ""
        if row and one is not taken and patterns.is_pair(known, row.kind, two, modules[i + 2:]):
            reasons = [
                f": {each} {reason}" for each, child in ((a, one), (b, two))
                if (reason := _why_not_now(child))
            ]
            add(not reasons, f"{prefix}{a}, {prefix}{b}{''.join(reasons[:1])}")
            found, taken = True, two
        elif (not row or row.kind != "linear") and getattr(patterns.row_of(two), "kind", None) == "gelu":
            add(False, f"{prefix}{b}: {a} is a {type(one).__name__}, not a Linear")
    return found


# --- A model ---


def _rewrite_module(module, name, dropout, names, entries):
    cls = _class_of(module)
    if cls in patterns.ROWS:
        return
    if isinstance(module, torch.jit.ScriptModule):
        return entries.add(False, "a ScriptModule has no source", name)
    if isinstance(module, torch.fx.GraphModule):
        return entries.add(False, "a GraphModule is changed by fuse()", name)
    if nn.utils.parametrize.is_parametrized(module):
        return entries.add(False, "torch.nn.utils.parametrize has made its class", name)
    methods: dict[str, Any] = {}
    for method, owner, function in _methods(cls):
        if function is nn.Sequential.forward:
            if method not in vars(module) and _sequential_pairs(
                    module, name, dropout, lambda replaced, what: entries.add(replaced, what, "")):
                methods[method] = patterns.HELPERS[dropout].sequential
            continue
        try:
            if not isinstance(function, types.FunctionType):
                raise Left(f"it is a {type(function).__name__}, not a function")
            changed = _rewritten_method(function, owner.__name__, method, module, dropout, names,
                                        lambda replaced, what: entries.add(replaced, what, name))
        except Left as reason:
            if method == "forward":
                entries.add(False, f"{owner.__name__}.forward: {reason}", name)
            continue
        if changed is not None:
            methods[method] = changed
    if methods:
        module.__class__ = _derived(cls, methods, dropout)


def _require_module(function, model):
    if not isinstance(model, nn.Module):
        raise TypeError(f"{function}: model must be an nn.Module, not {type(model).__name__}")


def rewrite(model: nn.Module, dropout: bool = False) -> Report:
    """Makes one operator of each Linear whose result goes into a GELU and nowhere else, and of other pairs,
    in place, and reports what it did.

    The pairs: Linear and GELU, LayerNorm and ReLU, ReLU and LayerNorm, a sum and ReLU, a sum and RMSNorm;
    with dropout=True also GELU and dropout, whose random numbers are not those of PyTorch. Modules and
    functions count, in one expression or in two statements that follow each other, in forward and in other
    methods, and in nn.Sequential. A class of somebody's counts if its forward says the same in the words of
    a known formula.

    Nothing of the model is run. The source of a method is compiled again with a guard at the two calls; it
    decides each time. Where it finds modules of PyTorch's own classes without hooks or parametrisations, and
    tensors that the operator takes, it calls the operator; otherwise it makes the two calls as they stand
    there. So the model can be changed, copied, pickled, compiled and trained as before. A method whose
    source is not to be had, or where the result is used again, stays as it was; the report says why.

    The modules get classes derived from their own: ``type(module) is C`` does not hold any more, isinstance
    does. A ``forward`` that is given to the class later is not seen. `restore` takes everything back.

    \\raises TypeError if the model is no nn.Module
    """
    _require_module("rewrite", model)
    entries, names = _Entries(), _learned_names(model)
    for name, module in model.named_modules():
        _rewrite_module(module, name, dropout, names, entries)
    return entries.report()


def restore(model: nn.Module) -> None:
    """Gives the modules back the classes that they had before `rewrite`.

    \\raises TypeError if the model is no nn.Module
    """
    _require_module("restore", model)
    for module in model.modules():
        if isinstance(module, Rewritten):
            module.__class__ = _class_of(module)
