"""Random forwards, with and without `rewrite`: what they return, log, raise, and leave as state and random
numbers, and their gradients.

    python3 rewriting_fuzz.py [FORWARDS [SEED]]

They have assignments, branches, loops, regions, lambdas, try and with. Their modules have hooks, which change
things and raise, and methods that exchange the activation in the middle of a call.
"""

import copy
import importlib.util
import pathlib
import random
import sys
import tempfile

import torch
import workbook_ops
from rewriting import Operators, expect
from torch import nn

HEAD = """import contextlib
import torch
import torch.nn.functional as F
from torch import nn
class Boom(Exception): pass
class Base(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc, self.fd, self.act, self.log, self.n = nn.Linear(8, 8), nn.Linear(8, 8), nn.GELU(), [], 0
        self.norm, self.rms, self.relu = nn.LayerNorm(8), nn.RMSNorm(8, eps=1e-5), nn.ReLU()
        self.drop = nn.Dropout(0.3)
        self.layers = nn.ModuleList([nn.Linear(8, 8), nn.Linear(8, 8)])
    def flip(self, v):
        self.act = nn.ReLU() if type(self.act) is nn.GELU else nn.GELU()
        return v
    def scale(self, v):
        v.mul_(0.5)
        return v
    def note(self, v):
        self.log.append(v.clone())
        return v
    def boom(self, v):
        self.n += 1
        if self.n % 3 == 0: raise Boom()
        return v
"""
MODULES = "fc", "fd", "act", "norm", "rms", "relu", "drop"


def called(r, argument):
    """A call of one of the table, of what is given or of one of the variables."""
    name = argument or r.choice("xab")
    return r.choice([
        f"self.{r.choice(MODULES)}({name})", f"self.act(self.fc({name}))", f"F.gelu({name})",
        f"F.relu({name})", f"self.{r.choice(MODULES)}({name})",
        f"F.gelu(self.fd({name}), approximate='tanh')", f"self.relu(self.norm({name}))",
        f"self.norm(F.relu({name}))", f"F.relu({name} + {r.choice('xab')})",
        f"self.rms({name} + {r.choice('xab')})", f"F.dropout({name}, 0.5, self.training)",
        f"F.gelu(F.linear({name}, self.fc.weight, self.fc.bias))"
    ])


def expression(r, depth=0):
    name = r.choice("xab")
    if depth > 1 or r.random() < 0.3:
        return r.choice([name, called(r, None)])
    inner = expression(r, depth + 1)
    return r.choice([
        called(r, inner),
        called(r, inner), f"self.boom({inner})", f"self.flip({inner})", f"self.note({inner})",
        f"self.scale({inner}) + {called(r, None)}", f"(lambda: self.act({name}))()",
        f"sum([self.act(l({name})) for l in self.layers])", f"({inner} if self.n % 2 else {name})",
        f"{inner} + {called(r, None)}", f"{called(r, inner)} * {r.choice('xab')}"
    ])


def pair(r, pad, depth):
    """Two statements, often with another name between them, and the first result used again or not."""
    name = r.choice("xab")
    first = r.choice(
        [f"self.{r.choice(MODULES)}({r.choice('xab')})", f"{r.choice('xab')} + {r.choice('xab')}"])
    lines = [f"{pad}{name} = {first}"]
    if r.random() < 0.4:
        lines += [
            pad + r.choice(["pass", f"{r.choice('xab')} = {r.choice('xab')}", f"{r.choice('xab')} = {name}"])
        ]
    second = called(r, name)
    return lines + [
        pad + r.choice([
            f"{r.choice('xab')} = {second}", f"{name} = {second}", f"return {second}" if depth else "pass",
            f"{r.choice('xab')} += {second}", f"self.note({second})", f"{name}: object = self.fd({second})",
            f"{name} = {name} + {second}", f"{r.choice('xab')} = self.scale({r.choice('xab')}) + {second}"
        ])
    ]


def statements(r, indent, depth=0):
    lines, pad = [], " " * indent
    for _ in range(r.randint(1, 4)):
        kind = r.random()
        if kind < 0.4:
            lines += pair(r, pad, depth)
        elif kind < 0.7 or depth > 1:
            lines += [f"{pad}{r.choice('xab')} = {expression(r)}"]
        else:
            heads = [
                "if self.n % 2:", "for _ in range(2):", "try:", "with contextlib.suppress(Boom):",
                "with torch.autocast('cpu', enabled=False):", "with torch.no_grad():"
            ]
            head = r.choice(heads)
            lines += [pad + head, *statements(r, indent + 1, depth + 1)]
            if head == "try:":
                lines += [f"{pad}except Boom:", *statements(r, indent + 1, depth + 1)]
    return lines


def add_hooks(r, model, boom):
    """Before and after are the same copy of the model, so both have them."""
    if r.random() < 0.2:
        getattr(model, r.choice(MODULES)).register_forward_hook(lambda m, args, out: out * 2)
    if r.random() < 0.1:
        model.fd.register_forward_hook(lambda m, args, out: args[0].add_(1) * 0 + out)
    if r.random() < 0.2:  # one that raises once in a while
        model.act.register_forward_hook(lambda m, args, out: boom(m, out))
        model.act.n = 0
    if r.random() < 0.1:
        nn.utils.parametrizations.weight_norm(model.fc)


def flat(value):
    return [each for part in value for each in flat(part)] if isinstance(value, (tuple, list)) else [value]


def outcome(model, x, gradient):
    """(results or errors of three calls, gradients, log, counters, random numbers)"""
    results, gradients = [], []
    torch.manual_seed(1)
    for _ in range(3):
        try:
            with torch.set_grad_enabled(gradient):
                result = flat(model(x.clone()))
                results.append([each.detach() for each in result])
                wanted = [each.float().sum() for each in result if each.requires_grad]
                if wanted:
                    model.zero_grad()
                    sum(wanted).backward()
                    gradients.append(
                        [each.grad.clone() for each in model.parameters() if each.grad is not None])
        except Exception as error:
            results.append([type(error).__name__, str(error)])
    return results, gradients, model.log, (model.n, type(model.act).__name__, torch.get_rng_state().tolist())


def largest(value):
    """The largest finite element of the tensors in it."""
    found = [each[each.isfinite()].abs().max().item() for each in flat(value)
             if isinstance(each, torch.Tensor) and each.isfinite().any()]
    return max(found, default=0.0)


def compare(one, other, scale=0.0):
    """Raises where they differ by more than roundings: of a tensor's own elements, and of the largest beside
    it, from which a gradient may have come."""
    if isinstance(one, (tuple, list)):
        assert type(one) is type(other) and len(one) == len(other), (one, other)
        scale = largest(one)
        for pair_ in zip(one, other):
            compare(*pair_, scale)
    elif isinstance(one, torch.Tensor):
        limit = 1e-4 + 1e-3 * largest([one]) + 1e-7 * scale
        torch.testing.assert_close(other, one, rtol=0, atol=limit, equal_nan=True)
    else:
        assert one == other, (one, other)


def write(r, count):
    text = HEAD
    for i in range(count):
        text += f"class M{i}(Base):\n    def forward(self, x):\n        a = x + 1\n        b = x * 2\n"
        text += "\n".join(statements(r, 8)) + "\n        return x, a, b\n"
    return text


def loaded(path):
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def main(count=200, seed=1):
    torch.set_num_threads(1)
    r, replaced, fused, different = random.Random(seed), 0, {}, []
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "forwards.py")
        path.write_text(write(r, count))
        module = loaded(path)
        for i in range(count):
            torch.manual_seed(i)
            before, x = getattr(module, f"M{i}")(), torch.randn(2, 8)
            add_hooks(r, before, module.Base.boom)
            after = copy.deepcopy(before)
            replaced += len(workbook_ops.rewrite(after).replaced)
            gradient = i % 2 == 0
            with Operators() as called:
                one, other = (outcome(each, x, gradient) for each in (before, after))
            for name in called.names:
                fused[name] = fused.get(name, 0) + 1
            if "modified by an inplace operation" in str(one[0]):  # the forward itself cannot be trained
                continue
            try:
                compare(one, other)
            except AssertionError as error:
                text = path.read_text()
                start = text.index(f"class M{i}(")
                different.append(f"{str(error)[:300]}\n{text[start:text.find(chr(10) + 'class', start)]}")
    expect(
        f"rewrite: {count} random forwards from seed {seed}, {replaced} places, " +
        ", ".join(f"{number} {name}" for name, number in sorted(fused.items())), not different
        and len(fused) > 3, "\n".join(different[:5]))


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
