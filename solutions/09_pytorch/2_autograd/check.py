"""The specification of exercise 09.2."""

import torch

DIMS = "x, y"
NEEDS = {"silu_mul": "(x, y)"}
COMPILES = True
LEARNT = ("A backward pass may compute again what is cheap, so that only the inputs are kept, and of "
          "these only what the wanted gradients need. For an elementwise operator, bytes that are kept "
          "are bytes that are written and read once more.")
LESSON = "docs/09_pytorch.md, stage 5: autograd only where it is wanted"

# Tensors that may be kept, by whether x and y need a gradient.
ALLOWED = {(True, True): 2, (True, False): 2, (False, True): 1}
WANTED = {(True, True): "both need gradients", (True, False): "only x needs a gradient",
          (False, True): "only y needs a gradient"}
ROUNDINGS = 16  # a result may be off by so many units in the last place, of itself plus 1


class Kept:
    """Notes the tensors that autograd keeps, each memory once."""

    def __init__(self):
        self.tensors = []

    def pack(self, tensor):
        self.tensors.append(tensor.detach())
        return tensor

    def total(self):
        storages = [tensor.untyped_storage() for tensor in self.tensors]
        return sum({storage.data_ptr(): storage.nbytes() for storage in storages}.values())


def _forward(answer, x, y):
    """The result, and what was kept for it."""
    kept = Kept()
    with torch.autograd.graph.saved_tensors_hooks(kept.pack, lambda tensor: tensor):
        return answer.silu_mul(x, y), kept


def _values(seed, layout, dtype, wanted):
    """x and y as leaves. The layout makes strides."""
    made = torch.Generator().manual_seed(seed)
    x, y = (layout(torch.randn(24, 20, generator=made).mul(2).to(dtype)) for _ in range(2))
    y[0] = 0
    return x.requires_grad_(wanted[0]), y.requires_grad_(wanted[1])


LAYOUTS = {"contiguous": lambda t: t, "transposed": lambda t: t.t(),
           "every second column": lambda t: t[:, ::2]}
DTYPES = (torch.float64, torch.float32, torch.bfloat16)


def _reference(x, y, grad):
    """Result and gradients in float64."""
    x64, y64 = (each.detach().double().requires_grad_() for each in (x, y))
    result = x64 * torch.sigmoid(x64) * y64
    return (result.detach(), *torch.autograd.grad(result, (x64, y64), grad.double()))


def _difference(name, have, want, dtype):
    """The first element that is off by more than a few roundings."""
    if have is None:
        return f"the gradient of {name} is missing: backward must return one for each input that needs it"
    if have.shape != want.shape or have.dtype != dtype:
        return (f"{name} has the shape {list(have.shape)} and type {have.dtype}, but must have "
                f"{list(want.shape)}, {dtype}")
    allowed = ROUNDINGS * torch.finfo(dtype).eps * (want.abs() + 1)
    wrong = ~((have.double() - want).abs() <= allowed)
    if not wrong.any():
        return ""
    at = tuple(wrong.nonzero()[0].tolist())
    return f"{name}[{at[0]}, {at[1]}] is {have[at].item():.6g}, but must be {want[at].item():.6g}"


def _exchanged(x, y, have, want):
    """Whether the gradients are right, but each at the other input."""
    return (None not in have and not _difference("x", have[0], want[1], x.dtype)
            and not _difference("y", have[1], want[0], x.dtype))


def _gradient_fault(answer, x, y, wanted, function=None):
    before = x.detach().clone(), y.detach().clone()
    grad = torch.randn(x.shape[::-1], generator=torch.Generator().manual_seed(5)).t().to(x.dtype)
    right, *gradients = _reference(x, y, grad)
    result = (function or answer.silu_mul)(x, y)
    if not isinstance(result, torch.Tensor):
        return f"silu_mul must return a tensor, but returns {type(result).__name__}"
    fault = _changed(x, y, before) or _difference("the result", result, right, x.dtype)
    if fault:
        return fault
    if not result.requires_grad:
        return ("the result needs no gradient, although an input does: autograd does not know how it was "
                "computed")
    inputs = [each for each in (x, y) if each.requires_grad]
    found = iter(torch.autograd.grad(result, inputs, grad, allow_unused=True))
    have = [next(found) if need else None for need in wanted]
    if all(wanted) and _exchanged(x, y, have, gradients):
        return ("the gradients of x and y are exchanged: backward returns them in the order of forward's "
                "arguments")
    for name, need, mine, want in zip("xy", wanted, have, gradients):
        fault = _difference(f"the gradient of {name}", mine, want, x.dtype) if need else ""
        if fault:
            return fault
    return _changed(x, y, before)


def _changed(x, y, before):
    changed = [name for name, now, then in zip("xy", (x, y), before) if not torch.equal(now, then)]
    return f"{changed[0]} has changed" if changed else ""


def _hidden(result, x):
    """A tensor that an attribute of ctx keeps, where autograd cannot see it."""
    for node in _nodes(result.grad_fn):
        for name, value in (vars(node) if hasattr(node, "__dict__") else {}).items():
            if isinstance(value, torch.Tensor) and value.numel() >= x.numel():
                return name
    return ""


def _nodes(first):
    found, waiting = [], [first]
    while waiting:
        node = waiting.pop()
        if node is None or node in found:
            continue
        found.append(node)
        waiting += [following for following, _ in node.next_functions]
    return found


def _changes_fault(answer, wanted):
    """Whether the gradient is right, or an error, where an input has changed before the backward pass."""
    for changed in "xy":
        leaves = _values(3, LAYOUTS["contiguous"], torch.float32, wanted)
        x, y = (leaf * 1 for leaf in leaves)  # leaves cannot be changed in place
        _, *right = _reference(x, y, torch.ones_like(x))
        result = answer.silu_mul(x, y)
        hidden = _hidden(result, x)
        if hidden:
            return (f"ctx.{hidden} keeps a tensor. Autograd does not see it: its bytes are not counted, and "
                    "nobody notices if it changes before the backward pass. ctx.save_for_backward is the "
                    "place for it")
        with torch.no_grad():
            {"x": x, "y": y}[changed].add_(1)
        try:
            result.sum().backward()
        except RuntimeError:
            continue
        for name, leaf, want in zip("xy", leaves, right):
            if leaf.requires_grad and _difference(name, leaf.grad, want, torch.float32):
                return (f"{changed} was changed in place after the forward pass. The gradient of {name} is "
                        "wrong then, and backward raises no error: is what it needs kept by "
                        "save_for_backward, and with nothing like detach() before?")
    return ""


def _copy_fault(answer, wanted):
    """Whether a copy of an input is kept in place of the input, which is in memory anyway."""
    x, y = _values(6, LAYOUTS["contiguous"], torch.float32, wanted)
    _, kept = _forward(answer, x, y)
    for name, each in (("x", x), ("y", y)):
        others = [one for one in kept.tensors if one.shape == x.shape and one.data_ptr() != each.data_ptr()]
        if any(torch.equal(one.to(each.dtype), each) for one in others):
            return f"a copy of {name} is kept, which takes memory of its own: keep {name} itself"
    return ""


def _kept_bytes(answer, wanted, dtype=torch.float32):
    """Per element."""
    x, y = _values(6, LAYOUTS["contiguous"], dtype, wanted)
    result, kept = _forward(answer, x, y)
    return kept.total() / result.numel()


def _compile_fault(answer, wanted):
    torch._dynamo.reset()
    compiled = torch.compile(answer.silu_mul, fullgraph=True, backend="aot_eager")
    x, y = _values(7, LAYOUTS["contiguous"], torch.float32, wanted)
    fault = _gradient_fault(answer, x, y, wanted, compiled)
    return (f"{fault}. In eager mode it is right. Does forward end in a .to() that changes nothing? "
            "torch.compile of PyTorch 2.11 loses the gradients then") if fault else ""


def _for_each(judged):
    """Judges each case of `WANTED`, and returns what is wrong in the first in which something is."""
    for wanted, how in WANTED.items():
        fault = judged(wanted)
        if fault:
            return f"where {how}: {fault}"
    return ""


def _values_fault(answer, layout, dtype):
    def judged(wanted):
        return _gradient_fault(answer, *_values(2, LAYOUTS[layout], dtype, wanted), wanted)

    return _for_each(judged)


def check(answer, verdict):
    for dtype in DTYPES:
        verdict.case("24x20", str(dtype).removeprefix("torch."),
                     lambda: _values_fault(answer, "contiguous", dtype))
    for shape, layout in (("20x24", "transposed"), ("24x10", "every second column")):
        verdict.case(shape, layout, lambda: _values_fault(answer, layout, torch.float32))
    if not verdict.all_right():
        return
    verdict.case("24x20", "an input changes before the backward pass",
                 lambda: _for_each(lambda wanted: _changes_fault(answer, wanted)))
    verdict.case("24x20", "what is kept", lambda: _for_each(lambda wanted: _copy_fault(answer, wanted)))
    if not verdict.all_right():
        return
    verdict.case("24x20", "compiled", lambda: _compile_fault(answer, (True, True)))
    if not verdict.all_right():
        return
    for wanted, how in WANTED.items():
        verdict.limit(f"bytes kept, {how}", _kept_bytes(answer, wanted), 4 * ALLOWED[wanted],
                      ("which of the kept tensors could backward compute again, and which gradient needs "
                       "each?"), per_element=True)
    verdict.limit("bytes kept in bfloat16", _kept_bytes(answer, (True, True), torch.bfloat16), 4,
                  "could one of the kept tensors be computed again, or is it in a wider type?",
                  per_element=True)
