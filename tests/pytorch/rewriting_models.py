"""Models that `rewrite` must not change, thirty-four of them, run with and without it.

    python3 rewriting_models.py [NAME...]  each model, or these, in a few states
    python3 rewriting_models.py --all      in more states, with 20 steps of training in each

Those of a library that is not installed are skipped. on_gpu.py runs this on a GPU (--device cuda).
"""

import collections
import contextlib
import copy
import importlib.util
import itertools
import pathlib
import random
import re
import sys
from argparse import ArgumentParser
from typing import Any, Callable, NamedTuple

import torch
import torch.nn.functional as F
import torch.utils.checkpoint
import workbook_ops
from rewriting import Operators, expect
from torch import nn

D = 16
SMALL = {"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2, "num_attention_heads": 2}
VISION = {**SMALL, "image_size": 32, "patch_size": 8}

# --- Our own ---


class Block(nn.Module):
    def __init__(self, approximate="none"):
        super().__init__()
        self.norm, self.up, self.act = nn.LayerNorm(D), nn.Linear(D, 4 * D), nn.GELU(approximate)
        self.down = nn.Linear(4 * D, D)

    def forward(self, x, scale=1.0):
        y = self.down(self.act(self.up(self.norm(x))))
        return x + scale * F.dropout(y, 0.1, self.training)


def of(forward, **layers):
    """A model of these layers."""

    class Model(nn.Module):

        def __init__(self):
            super().__init__()
            for name, layer in layers.items():
                setattr(self, name, layer)

    Model.forward = forward
    return Model()


def drops_paths(self, x):
    for block in self.blocks:
        if self.training and random.random() < 0.5:
            continue
        x = block(x)
    return x


def routes(self, x):
    rows = x.flatten(0, -2)
    chosen = self.gate(rows).argmax(-1)
    result = torch.zeros_like(rows)
    for i, expert in enumerate(self.experts):
        mask = chosen == i
        h = expert.up(rows[mask])
        h = F.gelu(h, approximate="tanh")
        result = result.index_put((mask,), expert.down(h).to(result.dtype))
    return result.view_as(x) + x


def keeps_losses(self, x):
    self.losses = []
    for up, down in zip(self.ups, self.downs):
        h = F.gelu(up(x))
        self.losses.append(h.float().square().mean())
        x = x + down(h)
    return x, torch.stack(self.losses)


def repeats(self, x):
    for _ in range(3):
        h = self.up(x)
        h = self.act(h)
        x = x + F.linear(h, self.up.weight.t())
    return x


def region_in_float32(self, x):
    with torch.autocast(x.device.type, enabled=False):
        y = F.gelu(self.up(x.float()))
    return self.down(y)


def frozen_trunk(self, x):
    with torch.no_grad():
        x = F.gelu(self.up(x))
    return self.down(x)


def forces(self, x):
    with torch.enable_grad():
        x = x.detach().requires_grad_()
        energy = self.down(self.act(self.up(x))).square().sum()
        return torch.autograd.grad(energy, x, create_graph=self.training)[0]


def decoder(self, x):
    residual = x
    x = self.first(x)
    x = residual + self.mix(x)
    residual = x
    x = self.second(x)
    x = self.down(self.act(self.up(x)))
    return residual + x


def caches(self, x):
    seen = self.seen if self.seen is not None and self.seen.shape == x.shape else torch.zeros_like(x)
    y = self.block(x + seen)
    self.seen = y.detach()
    return y


def checkpoints(self, x):
    for block in self.blocks:
        x = torch.utils.checkpoint.checkpoint(block, x, use_reentrant=False)
    return x


def saves_on_cpu(self, x):
    with torch.autograd.graph.save_on_cpu():
        return self.block(x)


def generated(self, x):

    def parts():
        for block in self.blocks:
            yield block(x)

    return sum(parts())


def masked(self, x, mask=None):
    y = self.act(self.up(x))
    return self.down(y if mask is None else y * mask) + (1.0 if mask is None else 0.0)


def norms_and_relus(self, x):
    x = F.relu(self.first(self.mix(x)))
    y = self.second(F.relu(x))
    return F.relu(y + x)


class Lora(nn.Module):
    def __init__(self, linear):
        super().__init__()
        self.linear, self.a = linear, nn.Linear(linear.in_features, 2, bias=False)
        self.b = nn.Linear(2, linear.out_features, bias=False)

    def forward(self, x):
        return self.linear(x) + self.b(self.a(x))


def with_lora():
    model = nn.Sequential(Block(), Block("tanh"))
    model[0].up = Lora(model[0].up)
    return model


def with_weight_norm():
    model = nn.Sequential(Block(), Block("tanh"))
    nn.utils.parametrizations.weight_norm(model[1].up)
    return model


def with_hooks():
    model = nn.Sequential(Block(), Block())
    model[0].act.register_forward_hook(lambda module, inputs, y: y * 1.5)
    model[1].register_forward_hook(lambda module, inputs, y: y + 1)
    return model


def layers(*names):
    made = {
        "up": nn.Linear(D, 4 * D),
        "down": nn.Linear(4 * D, D),
        "act": nn.GELU("tanh"),
        "mix": nn.Linear(D, D),
        "first": nn.RMSNorm(D, eps=1e-6),
        "second": nn.RMSNorm(D, eps=1e-6)
    }
    return {name: made[name] for name in names}


def blocks(count=2):
    return nn.ModuleList(Block() for _ in range(count))


def experts():
    return nn.ModuleList(
        nn.ModuleDict({
            "up": nn.Linear(D, 2 * D),
            "down": nn.Linear(2 * D, D)
        }) for _ in range(2))


class Case(NamedTuple):
    make: Callable[[], nn.Module]
    operators: dict[str, int]
    """How often a call in evaluation calls them."""
    inputs: Callable[[], dict[str, Any]] = lambda: {"x": torch.randn(3, 5, D)}
    library: str = "torch"
    compiles: bool = True
    """Whether torch.compile takes it, without an end of compiling again."""
    saves_more: bool = False
    """For a second derivative: the product with its bias, beside the one without it."""


def sequential():
    return nn.Sequential(nn.Linear(D, 64), nn.GELU(), nn.Dropout(0.1), nn.Linear(64, D), nn.GELU("tanh"))


OURS = {
    "sequential": Case(sequential, {"bias_gelu": 2}, lambda: {"input": torch.randn(3, 5, D)}),
    "blocks": Case(lambda: nn.Sequential(Block(), Block("tanh")), {"bias_gelu": 2},
                   lambda: {"input": torch.randn(3, 5, D)}),
    "stochastic depth": Case(lambda: of(drops_paths, blocks=blocks()), {"bias_gelu": 2}, compiles=False),
    "mixture of experts": Case(lambda: of(routes, gate=nn.Linear(D, 2), experts=experts()), {"bias_gelu": 2},
                               compiles=False),
    "auxiliary losses": Case(lambda: of(keeps_losses,
                                        ups=nn.ModuleList(nn.Linear(D, 32) for _ in range(2)),
                                        downs=nn.ModuleList(nn.Linear(32, D) for _ in range(2))),
                             {"bias_gelu": 2},
                             compiles=False),
    "a layer in a loop": Case(lambda: of(repeats, **layers("up", "act")), {"bias_gelu": 3}),
    "a region without autocast": Case(lambda: of(region_in_float32, **layers("up", "down")),
                                      {"bias_gelu": 1}),
    "a frozen trunk": Case(lambda: of(frozen_trunk, **layers("up", "down")), {"bias_gelu": 1}),
    "forces": Case(lambda: of(forces, **layers("up", "down", "act")), {"bias_gelu": 1},
                   compiles=False,
                   saves_more=True),
    "a decoder's block": Case(lambda: of(decoder, **layers("first", "mix", "second", "up", "act", "down")), {
        "residual_rms_norm": 1,
        "bias_gelu": 1
    }),
    "a cache": Case(lambda: of(caches, block=Block(), seen=None), {"bias_gelu": 1}, compiles=False),
    "checkpoints": Case(lambda: of(checkpoints, blocks=blocks()), {"bias_gelu": 2}),
    "saved on the CPU": Case(lambda: of(saves_on_cpu, block=Block()), {"bias_gelu": 1}, compiles=False),
    "a generator": Case(lambda: of(generated, blocks=blocks()), {"bias_gelu": 2}),
    "a mask": Case(lambda: of(masked, **layers("up", "down", "act")), {"bias_gelu": 1}, lambda: {
        "x": torch.randn(3, 5, D),
        "mask": torch.rand(5, 1)
    }),
    "no mask": Case(lambda: of(masked, **layers("up", "down", "act")), {"bias_gelu": 1}),
    "norms and ReLUs": Case(
        lambda: of(norms_and_relus, mix=nn.Linear(D, D), first=nn.LayerNorm(D), second=nn.LayerNorm(D)), {
            "layer_norm_relu": 1,
            "relu_layer_norm": 1,
            "add_relu": 1
        }),
    "LoRA": Case(with_lora, {"bias_gelu": 1}, lambda: {"input": torch.randn(3, 5, D)}),
    "weight norm": Case(with_weight_norm, {"bias_gelu": 1}, lambda: {"input": torch.randn(3, 5, D)}),
    "hooks": Case(with_hooks, {"bias_gelu": 1}, lambda: {"input": torch.randn(3, 5, D)}),
    "nn.TransformerEncoderLayer": Case(
        lambda: nn.TransformerEncoderLayer(D, 2, 32, activation="gelu", batch_first=True), {"bias_gelu": 1},
        lambda: {"src": torch.randn(3, 5, D)}),
    "nn.TransformerDecoderLayer": Case(
        lambda: nn.TransformerDecoderLayer(D, 2, 32, activation="gelu", batch_first=True), {"bias_gelu": 1},
        lambda: {
            "tgt": torch.randn(3, 5, D),
            "memory": torch.randn(3, 4, D)
        }),
}

# --- Those of libraries ---


def ids():
    return torch.randint(3, 50, (2, 7))


def image(size=32):
    return torch.randn(2, 3, size, size)


def hub(model, config, **options):
    """A model of transformers, of random weights."""

    def make():
        library = importlib.import_module("transformers")
        library.logging.set_verbosity_error()
        return getattr(library, model)(getattr(library, config)(**options))

    return make


def vision(name, *args, **options):
    return lambda: getattr(importlib.import_module("torchvision.models"), name)(
        *args, num_classes=5, **options)


def convnext():
    library = importlib.import_module("torchvision.models.convnext")
    return library.ConvNeXt([library.CNBlockConfig(16, 32, 1),
                             library.CNBlockConfig(32, None, 1)],
                            num_classes=5)


def raft_block():
    library = importlib.import_module("torchvision.models.optical_flow.raft")
    return library.ResidualBlock(3, 3, norm_layer=nn.BatchNorm2d)


def torchvision_mlp(**options):
    return importlib.import_module("torchvision.ops").MLP(D, [32, D], dropout=0.1, **options)


def timm(name, **options):
    options = {"img_size": 32, "num_classes": 5, **options}
    return lambda: getattr(importlib.import_module("timm.models"), name)(**options)


def timm_convnext():
    sizes = {"depths": (1, 1, 1, 1), "dims": (8, 16, 16, 32)}
    return importlib.import_module("timm.models").ConvNeXt(num_classes=5, conv_mlp=True, **sizes)


WHISPER = {
    "d_model": 32,
    "encoder_layers": 1,
    "decoder_layers": 1,
    "encoder_attention_heads": 2,
    "decoder_attention_heads": 2,
    "encoder_ffn_dim": 64,
    "decoder_ffn_dim": 64,
    "vocab_size": 50,
    "num_mel_bins": 8,
    "max_source_positions": 10,
    "pad_token_id": 0,
    "bos_token_id": 1,
    "eos_token_id": 2,
    "decoder_start_token_id": 1
}
OTHERS = {
    "BERT": Case(hub("BertModel", "BertConfig", **SMALL, vocab_size=50), {"bias_gelu": 2},
                 lambda: {"input_ids": ids()}, "transformers"),
    "ViT": Case(hub("ViTModel", "ViTConfig", **VISION), {"bias_gelu": 2}, lambda: {"pixel_values": image()},
                "transformers"),
    "GPT-2": Case(
        hub("GPT2LMHeadModel",
            "GPT2Config",
            n_embd=32,
            n_layer=2,
            n_head=2,
            vocab_size=50,
            bos_token_id=1,
            eos_token_id=2), {"bias_gelu": 2}, lambda: {
                "input_ids": ids(),
                "use_cache": False
            }, "transformers"),
    "Llama": Case(hub("LlamaForCausalLM", "LlamaConfig", **SMALL, vocab_size=50), {"residual_rms_norm": 2},
                  lambda: {
                      "input_ids": ids(),
                      "use_cache": False
                  }, "transformers"),
    "Gemma": Case(
        hub("GemmaModel", "GemmaConfig", **SMALL, vocab_size=50, num_key_value_heads=1, head_dim=16),
        {"bias_gelu": 2}, lambda: {
            "input_ids": ids(),
            "use_cache": False
        }, "transformers"),
    "T5, gated": Case(
        hub("T5Model",
            "T5Config",
            d_model=32,
            d_kv=8,
            d_ff=64,
            num_layers=1,
            num_heads=2,
            vocab_size=50,
            feed_forward_proj="gated-gelu"), {"bias_gelu": 2}, lambda: {
                "input_ids": ids(),
                "decoder_input_ids": ids(),
                "use_cache": False
            }, "transformers"),
    "Whisper": Case(
        hub("WhisperModel", "WhisperConfig", **WHISPER), {"bias_gelu": 2}, lambda: {
            "input_features": torch.randn(2, 8, 20),
            "decoder_input_ids": ids(),
            "use_cache": False
        }, "transformers"),
    "torchvision ViT": Case(vision("VisionTransformer", 32, 8, 2, 2, 32, 64), {"bias_gelu": 2},
                            lambda: {"x": image()}, "torchvision"),
    "Swin": Case(vision("SwinTransformer", [4, 4], 16, [1, 1], [1, 1], [4, 4]), {"bias_gelu": 2},
                 lambda: {"x": image()}, "torchvision"),
    "ConvNeXt": Case(convnext, {"bias_gelu": 2}, lambda: {"x": image()}, "torchvision"),
    "RAFT's block": Case(raft_block, {"add_relu": 1}, lambda: {"x": image(8)}, "torchvision"),
    "torchvision MLP": Case(lambda: torchvision_mlp(norm_layer=nn.LayerNorm), {"layer_norm_relu": 1},
                            lambda: {"input": torch.randn(3, 5, D)}, "torchvision"),
    "timm ViT": Case(timm("VisionTransformer", patch_size=8, depth=2, embed_dim=32, num_heads=2),
                     {"bias_gelu": 2}, lambda: {"x": image()}, "timm"),
    "MLP-Mixer": Case(timm("MlpMixer", patch_size=8, embed_dim=32, num_blocks=2), {"bias_gelu": 4},
                      lambda: {"x": image()}, "timm"),
    "timm ConvNeXt": Case(timm_convnext, {}, lambda: {"x": image()}, "timm"),
    "BEiT": Case(timm("Beit", patch_size=8, depth=1, embed_dim=32, num_heads=2), {"bias_gelu": 1},
                 lambda: {"x": image()}, "timm"),
}
CASES = {**OURS, **OTHERS}
README = pathlib.Path(__file__).resolve().parents[2] / "chapters/09_pytorch/README.md"

# --- Comparisons ---


class State(NamedTuple):
    training: bool
    no_grad: bool
    autocast: bool
    compile: bool
    checkpoint: bool

    def __str__(self):
        return ", ".join(name for name, on in self._asdict().items() if on) or "evaluation"


FEW = [
    State(False, True, False, False, False),
    State(True, False, True, False, True),
    State(True, False, False, False, False)
]
ALL = [
    *(State(training, no_grad, autocast, False, checkpoint)
      for training, no_grad, autocast, checkpoint in itertools.product((False, True), repeat=4)),
    State(False, True, False, True, False),
    State(True, False, False, True, False),
    State(True, False, True, True, False),
    State(True, False, False, True, True)
]


def tensors_in(value):
    if isinstance(value, torch.Tensor):
        return [value] if value.is_floating_point() else []
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, (list, tuple)) else ()
    return [tensor for part in parts for tensor in tensors_in(part)]


class Saved:
    """Bytes of the tensors that are saved for the backward pass, each memory once."""

    def __init__(self):
        self.memory = {}

    def pack(self, tensor):
        storage = tensor.untyped_storage()
        self.memory[storage.data_ptr()] = storage, storage.nbytes()
        return tensor

    def bytes(self):
        return sum(size for _, size in self.memory.values())


def called(model, inputs, state):
    """What a call in this state returns: its tensors."""
    device = next(model.parameters()).device.type
    with contextlib.ExitStack() as stack:
        if state.no_grad:
            stack.enter_context(torch.no_grad())
        if state.autocast:
            stack.enter_context(torch.autocast(device, torch.bfloat16))
        function = torch.compile(model, backend="aot_eager") if state.compile else model
        if state.checkpoint:
            return tensors_in(torch.utils.checkpoint.checkpoint(function, use_reentrant=False, **inputs))
        return tensors_in(function(**inputs))


def outcome(model, inputs, state, steps):
    """Everything that a reader of the model could compare: outputs, losses, gradients, random numbers,
    memory."""
    torch._dynamo.reset()
    model = copy.deepcopy(model).train(state.training)
    torch.manual_seed(1)
    random.seed(1)
    optimiser, saved, losses = torch.optim.SGD(model.parameters(), 1e-2), Saved(), []
    for step in range(1 if state.no_grad else steps):
        optimiser.zero_grad()
        hooks = torch.autograd.graph.saved_tensors_hooks(saved.pack, lambda tensor: tensor)
        with contextlib.nullcontext() if state.compile or step else hooks:
            results = called(model, inputs, state)
        loss = sum(each.float().square().mean() for each in results)
        losses.append(loss.detach())
        if loss.requires_grad:
            loss.backward()
        if step == 0:
            first = [each.detach().float() for each in results]
            gradients = [None if each.grad is None else each.grad.clone() for each in model.parameters()]
        optimiser.step()
    return {
        "outputs": first,
        "types": [each.dtype for each in results],
        "losses": losses,
        "gradients": gradients,
        "random": [*map(torch.Tensor.tolist, generators()), random.getstate()],
        "saved": saved.bytes()
    }


def generators():
    on_gpu = [torch.cuda.get_rng_state()] if torch.cuda.is_available() else []
    return [torch.get_rng_state(), *on_gpu]


def outcome_or_error(*arguments):
    """A model that decides at random cannot be checkpointed, for example."""
    try:
        return outcome(*arguments)
    except Exception as error:
        return type(error).__name__


def difference(one, other, limit):
    """Between two lists of tensors, where it is above the limit times the largest element."""
    for i, (a, b) in enumerate(zip(one, other, strict=True)):
        if (a is None) != (b is None):
            return f"{i}: one is None"
        if a is not None:
            error = (a - b).abs().max().item() if a.numel() else 0.0
            scale = a.abs().max().item() if a.numel() else 0.0
            if not error <= limit * scale + limit / 10:
                return f"{i} of {len(one)}: {error:.2g} where the largest is {scale:.2g}"
    return None


def faults(before, after, state, saves_more):
    """What differs between two outcomes. In autocast, products are rounded to bfloat16 at other places."""
    if isinstance(before, str) or isinstance(after, str):
        return [] if before == after else [f"{before} and {after}"]
    limit = 0.05 if state.autocast else 1e-4
    found = [
        f"{name} {said}"
        for name, limit in (("outputs", limit), ("losses", 10 * limit), ("gradients", 3 * limit))
        if (said := difference(before[name], after[name], limit))
    ]
    found += [name for name in ("types", "random") if before[name] != after[name]]
    if after["saved"] > before["saved"] * 1.02 + 1024 and not saves_more:
        found.append(f"saved {before['saved']} and {after['saved']} bytes")
    return found


def check_model(name, case, states, steps, device):
    torch.manual_seed(0)
    before = case.make().to(device)
    inputs = {
        key: value.to(device) if isinstance(value, torch.Tensor) else value
        for key, value in case.inputs().items()
    }
    after = copy.deepcopy(before)
    report = workbook_ops.rewrite(after)
    grad = contextlib.nullcontext() if name == "nn.TransformerEncoderLayer" else torch.no_grad()
    with Operators() as found, grad:
        copy.deepcopy(after).eval()(**inputs)
    counted, expected = (
        {each: number for each, number in numbers.items()
         # on a GPU, linear_gelu without a gradient is PyTorch's own operators
         if device == "cpu" or each != "bias_gelu"}
        for numbers in (collections.Counter(found.names), case.operators))
    wrong = {}
    for state in states:
        if case.compiles or not state.compile:
            outcomes = [outcome_or_error(each, inputs, state, steps) for each in (before, after)]
            if said := faults(*outcomes, state, case.saves_more):
                wrong[str(state)] = said
    expect(f"{name}: {len(report.replaced)} places replaced, the same in {len(states)} states, {steps} steps",
           not wrong and counted == expected, f"{wrong}\n{counted}\n{report}")


def check_table():
    """The README's table of models: what it quotes as replaced or left stands in the report."""
    text = README.read_text()
    rows = re.findall(r"^\| ([^|]+) \| ([^|]+) \| ([^|]+) \|$", text.partition("| model |")[2], re.M)
    rows = [(name, *columns) for name, *columns in rows if name in OTHERS and is_installed(name)]
    for name, *columns in rows:
        report = workbook_ops.rewrite(OTHERS[name].make())
        for entries, column in zip((report.replaced, report.left), columns):
            quoted = re.findall(r"`([^`]+)`", column)
            missing = [each for each in quoted if not any(each in entry for entry in entries)]
            expect(f"the README on {name}: {column}", not missing and bool(quoted) == bool(entries), report)


def check_dropout():
    """GELU and dropout of a model that somebody wrote, on request."""
    torch.manual_seed(0)
    model = torchvision_mlp(activation_layer=nn.GELU).eval()
    x = torch.randn(3, D)
    wanted, report = model(x), workbook_ops.rewrite(model, dropout=True)
    with Operators() as found, torch.no_grad():
        same = torch.allclose(model(x), wanted, atol=1e-5)
        drawn = model.train()(x)
    expect("torchvision MLP: GELU and dropout are one operator, if that is asked for",
           same and report.replaced == ["1, 2"] and found.names == ["gelu", "gelu_dropout"]
           and not torch.equal(drawn, wanted), (report, found.names))


def is_installed(name):
    return importlib.util.find_spec(CASES[name].library) is not None


def main(arguments=()):
    parser = ArgumentParser()
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--device", default="cpu")
    options = parser.parse_args(arguments)
    torch.set_num_threads(1)
    states = ALL if options.all else FEW
    for name in options.names or CASES:
        if name not in CASES:
            parser.error(f"there is no {name}, but {', '.join(CASES)}")
        if not is_installed(name):
            print(f"skipped: {name}: {CASES[name].library} is not installed")
            continue
        check_model(name, CASES[name], states, 20 if options.all else 3, options.device)
    check_table()
    if is_installed("torchvision MLP"):
        check_dropout()


if __name__ == "__main__":
    main(sys.argv[1:])
