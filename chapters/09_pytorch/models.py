"""Two models with random weights, as PyTorch runs them and with the operators of workbook_ops.

    pip install ./chapters/09_pytorch
    python3 chapters/09_pytorch/models.py

It trains both, and compares the losses; it times forward passes and forward with backward passes, eager and
compiled; and it finds from how many rows on Linear and GELU are faster as one operator. With --trace it also
stores what PyTorch's profiler saw of one forward pass, for chrome://tracing or https://ui.perfetto.dev.
"""

import argparse
import copy
import importlib
import json
import pathlib

import ladder
import torch
import torch.nn.functional as F
import workbook_ops
from measure import medians
from measured import MODEL_WAYS, linear_rows, loss_rows, model_rows
from torch import nn

graphs = importlib.import_module("stages.07_graph")

STEPS = 20  # of training
ROWS = [2**power for power in range(0, 15, 2)]


# --- The models ---


class AddRmsNorm(nn.RMSNorm):
    """RMSNorm of x + residual, and the sum, as PyTorch has it: two operators."""

    def forward(self, x, residual):
        total = x + residual
        return super().forward(total), total


class Mlp(nn.Module):
    """A Linear four times as wide, GELU, and a Linear back."""

    def __init__(self, width):
        super().__init__()
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)
        self.act = nn.GELU("tanh")

    def forward(self, x):
        return self.down(self.act(self.up(x)))


class Block(nn.Module):
    """A block of a transformer: attention with a causal mask, and an MLP, each after a norm. The next block
    adds its result to the residual."""

    def __init__(self, width, d=64):
        super().__init__()
        self.heads = width // d
        self.norms = nn.ModuleList([AddRmsNorm(width, eps=1e-5) for _ in range(2)])
        self.qkv, self.out, self.mlp = nn.Linear(width, 3 * width), nn.Linear(width, width), Mlp(width)

    def forward(self, x, residual):
        y, residual = self.norms[0](x, residual)
        q, k, v = self.qkv(y).unflatten(-1, (3, self.heads, -1)).permute(2, 0, 3, 1, 4)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).flatten(-2)
        y, residual = self.norms[1](self.out(y), residual)
        return self.mlp(y), residual


class Transformer(nn.Module):
    def __init__(self, width, blocks=4):
        super().__init__()
        self.blocks = nn.ModuleList([Block(width) for _ in range(blocks)])

    def forward(self, x):
        residual = torch.zeros_like(x)
        for block in self.blocks:
            x, residual = block(x, residual)
        return x + residual


MODELS = {"mlp": lambda width: nn.Sequential(*(Mlp(width) for _ in range(4))), "transformer": Transformer}


def with_operators(model):
    """A copy of a model in which operators of workbook_ops have replaced what they can, and the report."""
    model = copy.deepcopy(model)
    for parent in [*model.modules()]:
        for name, child in parent.named_children():
            if isinstance(child, AddRmsNorm):
                norm = workbook_ops.ResidualRMSNorm(child.normalized_shape, child.eps)
                norm.weight = child.weight
                setattr(parent, name, norm)
    return model, workbook_ops.rewrite(model)


# --- Losses ---


def losses_of(model, x, target):
    """The loss before each step of training, in float32."""
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    losses = []
    for _ in range(STEPS):
        loss = F.mse_loss(model(x), target)
        losses.append(loss.item())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return losses


def compared_losses(name, width, device):
    """The first and the last loss of both forms, and the largest relative difference of any step."""
    torch.manual_seed(9)
    model = MODELS[name](width).to(device)
    x, target = (torch.randn(2, 64, width, device=device) for _ in range(2))
    fused, report = with_operators(model)
    print(f"{name}: {report}\n")
    eager, ours = losses_of(model, x, target), losses_of(fused, x, target)
    difference = max(abs(a - b) / abs(a) for a, b in zip(eager, ours))
    return {"model": name, "eager": [eager[0], eager[-1]], "ours": [ours[0], ours[-1]],
            "difference": difference}


# --- Times ---


def training_step(model, x):
    model(x).square().mean().backward()
    model.zero_grad()


def inference(model, x):
    with torch.no_grad():
        return model(x)


def times_of(name, width, tokens, device, dtype):
    """{way: [forward, forward and backward]} in us."""
    torch._dynamo.reset()  # else it would compile for any number of tokens
    torch.manual_seed(9)
    model = MODELS[name](width).to(device, dtype)
    x = torch.randn(*tokens, width, device=device, dtype=dtype)
    fused = with_operators(model)[0]
    ways = dict(zip(MODEL_WAYS, (model, torch.compile(model), fused, torch.compile(fused))))
    times = [medians({way: lambda each=each, run=run: run(each, x) for way, each in ways.items()}, device, 5)
             for run in (inference, training_step)]
    return {"model": name, "tokens": list(tokens), "times": {way: [round(each[way], 1) for each in times]
                                                             for way in MODEL_WAYS}}


def eager_linear_gelu(x, weight, bias):
    return F.gelu(F.linear(x, weight, bias), approximate="tanh")


def our_linear_gelu(x, weight, bias):
    return workbook_ops.linear_gelu(x, weight, bias, "tanh")


def linear_times(width, device, dtype):
    """Times of Linear and GELU in us, for ROWS: of a call, and on a GPU of one in a CUDA graph."""
    weight = torch.randn(4 * width, width, device=device, dtype=dtype)
    bias = torch.randn(4 * width, device=device, dtype=dtype)
    found = []
    for rows in ROWS:
        inputs = [torch.randn(rows, width, device=device, dtype=dtype), weight, bias]
        ways = {"eager": lambda: eager_linear_gelu(*inputs), "ours": lambda: our_linear_gelu(*inputs)}
        times = medians(ways, device, 20)
        if device == "cuda":
            graph = {f"{way} in a graph": graphs.record(inputs, function) for way, function in
                     (("eager", eager_linear_gelu), ("ours", our_linear_gelu))}
            times |= {way: us / graphs.CALLS for way, us in medians(graph, device, 1).items()}
        found.append({"rows": rows, **{way: round(us, 2) for way, us in times.items()}})
    return found


# --- What the profiler sees ---


def traced(model, x, path):
    """Runs forward passes under PyTorch's profiler and stores its trace. Returns the operators that Python
    calls in the last one, and the kernels: (name, start, duration) in us from the first call on."""
    with torch.profiler.profile(acc_events=True) as profile:
        for _ in range(5):
            with torch.profiler.record_function("pass"):
                inference(model, x)
                if x.is_cuda:
                    torch.cuda.synchronize()
    profile.export_chrome_trace(str(path))
    events = [each for each in json.loads(path.read_text())["traceEvents"] if each.get("ph") == "X"]
    last = max(each["ts"] for each in events if each["name"] == "pass" and each["cat"] == "user_annotation")
    operators, kernels = (sorted((each["ts"], each["dur"], each["name"]) for each in events
                                 if each.get("cat") == category and each["ts"] > last)
                          for category in ("cpu_op", "kernel"))
    begin, called, end = operators[0][0], [], 0
    for start, duration, name in operators:
        if start >= end:  # else the one before has called it
            called.append((start, duration, name))
            end = start + duration
    return {lane: [[name, round(start - begin, 2), round(duration, 2)] for start, duration, name in found]
            for lane, found in (("host", called), ("gpu", kernels))}


def profiles(width, device, dtype, folder):
    folder.mkdir(parents=True, exist_ok=True)
    model = Transformer(width, 1).to(device, dtype)
    x = torch.randn(1, 128, width, device=device, dtype=dtype)
    return {way: traced(each, x, folder / f"{way}.json")
            for way, each in (("eager", model), ("ours", with_operators(model)[0]))}


# --- The program ---


def parsed():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    default = "cuda" if workbook_ops.CUDA_AVAILABLE else "cpu"
    parser.add_argument("--device", choices=("cpu", "cuda"), default=default)
    parser.add_argument("--json", type=pathlib.Path, metavar="FILE", help="writes the results there as well")
    parser.add_argument("--trace", type=pathlib.Path, metavar="FOLDER",
                        help="writes eager.json and ours.json there")
    options = parser.parse_args()
    if options.device == "cuda" and not workbook_ops.CUDA_AVAILABLE:
        parser.error("there is no GPU that workbook_ops can use")
    return options


def main():
    options = parsed()
    device = options.device
    on_gpu = device == "cuda"
    width, dtype = (1024, torch.bfloat16) if on_gpu else (256, torch.float32)
    sizes = ((1, 128), (16, 1024)) if on_gpu else ((1, 32), (4, 256))
    run = ladder.origin(device, f"models.py --device {device}", torch.get_num_threads())
    run |= {"width": width, "type": str(dtype).removeprefix("torch."), "steps": STEPS}
    print(f"{run['device']}, PyTorch {run['torch']}\n", flush=True)
    run["losses"] = [compared_losses(name, width, device) for name in MODELS]
    print("\n".join(loss_rows(run)), end="\n\n", flush=True)
    run["models"] = [times_of(name, width, tokens, device, dtype) for name in MODELS for tokens in sizes]
    print("\n".join(model_rows(run)), end="\n\n", flush=True)
    run["linear"] = linear_times(width, device, dtype)
    print("\n".join(linear_rows(run)))
    if options.trace:
        run["profiles"] = profiles(width, device, dtype, options.trace)
    if options.json:
        options.json.write_text(json.dumps(run, indent=1) + "\n")


if __name__ == "__main__":
    main()
