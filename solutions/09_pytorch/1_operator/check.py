"""The specification of exercise 09.1."""

import torch
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.utils._python_dispatch import TorchDispatchMode

DIMS = "x"
NEEDS = {"quantize_rows": "(x)"}
COMPILES = True
LEARNT = ("PyTorch now has a name, types and a fake for the kernel. The compiler plans with the fake and "
          "calls the operator whole, and all that the kernel cannot know is settled before it starts: "
          "strides, types, empty tensors and the stream.")
LESSON = "docs/09_pytorch.md, stage 2: an operator in Python"

BUILT_IN = ("aten", "prims", "prim", "higher_order", "inductor", "profiler")  # namespaces of PyTorch's own


class Calls(TorchDispatchMode):
    """Notes the calls of custom operators, and what they do to their arguments."""

    def __init__(self):
        super().__init__()
        self.operators, self.fault = [], ""

    def __torch_dispatch__(self, operator, types, args=(), kwargs=None):
        if operator.namespace in BUILT_IN:
            return operator(*args, **(kwargs or {}))
        self.operators.append(operator)
        before = [each.clone() if isinstance(each, torch.Tensor) else each for each in args]
        results = operator(*args, **(kwargs or {}))
        self.fault = self.fault or _side_effect(operator, args, before, results)
        return results


def _storage(tensor):
    return tensor.untyped_storage().data_ptr()


def _tensors(results):
    results = results if isinstance(results, (tuple, list)) else (results,)
    return [each for each in results if isinstance(each, torch.Tensor)]


def _same(a, b):
    return torch.equal(torch.nan_to_num(a.float(), 7e30), torch.nan_to_num(b.float(), 7e30))


def _side_effect(operator, args, before, results):
    """Says what the operator does to its arguments although its schema does not say so."""
    for described, now, then in zip(operator._schema.arguments, args, before):
        if not isinstance(now, torch.Tensor):
            continue
        if not _same(now, then) and not (described.alias_info and described.alias_info.is_write):
            return (f"{operator} changes its argument {described.name}, but its schema does not say so. A "
                    "compiler may use the old value afterwards, or leave the call out: is the argument "
                    "in mutates_args?")
        if now.numel() and any(_storage(each) == _storage(now) for each in _tensors(results)):
            return (f"{operator} returns memory of its argument {described.name}. A custom operator must "
                    "return memory of its own")
    return ""


# --- Inputs and what is right ---


def _inputs(device):
    """Shape, how, x."""
    made = torch.Generator().manual_seed(91)

    def values(*shape):
        return torch.randn(shape, generator=made).to(device)

    zeros = values(3, 5)
    zeros[1] = 0
    where = "" if device == "cpu" else ", on the GPU"
    yield "3x5", f"a row of zeros{where}", zeros
    for shape in ((1, 1), (7,), (4, 64), (2, 3, 33)):
        yield "x".join(map(str, shape)), f"contiguous{where}", values(*shape)
    yield "5x6", f"transposed{where}", values(6, 5).t()
    yield "2x3x4", f"dimensions permuted{where}", values(4, 2, 3).permute(1, 2, 0)
    yield "4x8", f"every second column{where}", values(4, 16)[:, ::2]
    yield "3x7", f"one row, expanded{where}", values(1, 7).expand(3, 7)
    for shape in ((0, 4), (4, 0), (0,)):
        yield "x".join(map(str, shape)), f"empty{where}", values(*shape)


def _expected(x):
    largest = x.abs().amax(-1) if x.shape[-1] else torch.zeros(x.shape[:-1], device=x.device)
    scales = largest / 127
    divisor = torch.where(largest > 0, scales, 1.0)
    return (x / divisor.unsqueeze(-1)).round().to(torch.int8), scales


def _form_fault(results):
    if not isinstance(results, (tuple, list)) or len(results) != 2:
        return f"quantize_rows must return (q, scales), but returns {type(results).__name__}"
    kinds = [type(each).__name__ for each in results if not isinstance(each, torch.Tensor)]
    return f"quantize_rows must return two tensors, but one is {kinds[0]}" if kinds else ""


def _value_fault(results, x):
    """The first difference from what is right."""
    fault = _form_fault(results)
    if fault:
        return fault
    for name, have, want in zip(("q", "scales"), results, _expected(x)):
        if have.dtype != want.dtype or have.shape != want.shape or have.device != want.device:
            return f"{name} is {_described(have)}, but must be {_described(want)}"
        if name == "scales" and x.shape[-1] == 0:
            continue  # the largest of no elements
        wrong = (have != want) | have.isnan() if have.is_floating_point() else have != want
        if wrong.any():
            at = tuple(wrong.nonzero()[0].tolist())
            hint = "" if x.is_contiguous() else (f" x has the strides {list(x.stride())}: which does the "
                                                 "kernel assume?")
            return (f"{name}[{', '.join(map(str, at))}] is {have[at].item():.6g}, but must be "
                    f"{want[at].item():.6g}.{hint}")
    return ""


def _described(tensor):
    kind = str(tensor.dtype).removeprefix("torch.")
    return f"{kind} of shape {list(tensor.shape)} on {tensor.device.type}"


# --- The checks ---


def _call_fault(answer, x):
    original = x.clone()
    with Calls() as calls:
        first = answer.quantize_rows(x)
    fault = _value_fault(first, x)
    if fault or calls.fault:
        return fault or calls.fault
    if not calls.operators:
        return ("quantize_rows calls no custom operator: PyTorch does not know the kernel. "
                "torch.library.custom_op registers one")
    if not _same(x, original):
        return "x has changed"
    kept = [each.clone() for each in first]
    second = answer.quantize_rows(x * 2 + 1)
    if not all(_same(now, then) for now, then in zip(first, kept)):
        return "a second call overwrites the results of the first: each call must allocate its own"
    return _form_fault(second)


def _type_fault(answer, dtype):
    x = torch.ones(2, 8, dtype=dtype)
    try:
        answer.quantize_rows(x)
    except (TypeError, RuntimeError, ValueError) as error:
        name = str(dtype).removeprefix("torch.")
        return "" if name in str(error) else ("it is refused, but the error does not name the type "
                                              f"{name}: {error}")
    return "it is taken as if it were float32. The kernel reads 4 bytes per element: refuse other types"


def _fake_fault(answer, x):
    """Whether the fake says what the operator returns."""
    real = answer.quantize_rows(x)
    try:
        with FakeTensorMode() as mode:
            fake = answer.quantize_rows(mode.from_tensor(x))
    except Exception as error:
        said = str(error).strip().splitlines()[0]
        return ("the operator cannot be called with a fake tensor, which has no elements "
                f"({type(error).__name__}: {said}). Has it a fake implementation, and does that look at "
                "shapes and types alone?")
    fault = _form_fault(fake)
    if fault:
        return f"with a fake tensor: {fault}"
    for name, says, does in zip(("q", "scales"), fake, real):
        if says.dtype != does.dtype or says.shape != does.shape:
            return (f"the fake says that {name} is {_described(says)}, but the operator returns "
                    f"{_described(does)}")
        if does.numel() > 1 and says.stride() != does.stride():
            return (f"the fake says that {name} has the strides {list(says.stride())}, but the operator "
                    f"returns {list(does.stride())}")
    return ""


class Graphs:
    """A backend that counts graphs and runs aot_eager."""

    def __init__(self):
        self.count = 0

    def __call__(self, graph_module, inputs):
        self.count += 1
        return torch._dynamo.lookup_backend("aot_eager")(graph_module, inputs)


def _compile_fault(answer, graphs):
    def function(x):
        q, scales = answer.quantize_rows(x * 2)
        return q.float() * scales.unsqueeze(-1), q.t().contiguous()

    torch._dynamo.reset()
    compiled = torch.compile(function, fullgraph=True, backend=graphs, dynamic=True)
    for rows in (4, 9, 17):
        x = torch.randn(rows, 6).t().contiguous().t()
        for have, want in zip(compiled(x), function(x)):
            if not torch.equal(have, want):
                return (f"with {rows} rows, the compiled function returns something else than the "
                        "function itself")
    return ""


def _stream_fault(answer, stream):
    """A kernel on another stream reads x before this one has filled it."""
    x, filled = torch.zeros(512, 512, device="cuda"), torch.randn(512, 512, device="cuda")
    answer.quantize_rows(x)
    torch.cuda.synchronize()
    with torch.cuda.stream(stream):
        torch.cuda._sleep(200_000_000)
        x.copy_(filled)
        results = answer.quantize_rows(x)
        torch.cuda.current_stream().synchronize()
    torch.cuda.synchronize()
    fault = _value_fault(results, filled)
    return f"{fault} Does the kernel run on the current stream?" if fault else ""


def check(answer, verdict):
    devices = ["cpu"] + ["cuda"] * torch.cuda.is_available()
    for device in devices:
        for shape, how, x in _inputs(device):
            verdict.case(shape, how, lambda: _call_fault(answer, x))
    for dtype in (torch.float64, torch.float16, torch.int32):
        verdict.case("2x8", str(dtype).removeprefix("torch."), lambda: _type_fault(answer, dtype))
    if not verdict.all_right():
        return
    for shape, how, x in _inputs("cpu"):
        verdict.case(shape, f"fake, {how}", lambda: _fake_fault(answer, x))
    if not verdict.all_right():
        return
    graphs = Graphs()
    verdict.case("4x6 9x6 17x6", "compiled", lambda: _compile_fault(answer, graphs))
    if len(devices) > 1:
        for how, stream in (("default stream", torch.cuda.default_stream()),
                            ("side stream", torch.cuda.Stream())):
            verdict.case("512x512", how, lambda: _stream_fault(answer, stream))
    else:
        verdict.note("The current stream is checked on a GPU alone, and there is none here.")
    verdict.limit("graphs for three numbers of rows", graphs.count, 1,
                  "does the fake turn a size into a number, with int() or in a comparison?")
