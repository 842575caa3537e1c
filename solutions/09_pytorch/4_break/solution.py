"""Exercise 09.4, break: find and remove a graph break.

ClippedBlock is a block of a model: Linear, GELU, and two things that its author needs for a stable start of
training. A result whose norm is above `limit` is scaled down to it, and during the first `warm_up` calls the
result is multiplied by 1 / warm_up, 2 / warm_up, ... until it is 1.

It works in eager mode. torch.compile breaks its graph where Python needs a number that only the device
knows; each break costs a synchronisation and leaves the compiler two smaller graphs. And since the counter of
the calls is a Python number, the compiler bakes it into the code and compiles again when it has changed.

Change the class so that nothing else changes: the constructor's arguments, the parameters `linear.weight` and
`linear.bias`, values, and gradients, in which both factors count as constants. Each block counts its own
calls. Beware of tensors that forward changes in place (`add_`, `copy_`): the compiled backward pass of
PyTorch 2.11 reads them after the change, and its gradients are then wrong. A new tensor is safe.

Goal: torch.compile(fullgraph=True) takes it, eight calls of one shape need one graph, and all of the block is
in that graph: nothing is excluded from compiling or hidden in an operator of your own.
"""

import torch
import torch.nn.functional as F
from torch import nn


class ClippedBlock(nn.Module):
    def __init__(self, features: int, limit: float = 1.0, warm_up: int = 4):
        super().__init__()
        self.linear = nn.Linear(features, features)
        self.limit, self.warm_up = limit, warm_up
        # BEGIN SOLUTION
        self.register_buffer("calls", torch.zeros(()), persistent=False)
        # SKELETON
        # self.calls = 0
        # END SOLUTION

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        # BEGIN SOLUTION
        self.calls = self.calls + 1  # a new tensor: the backward pass reads it
        y = F.gelu(self.linear(x))
        norm = y.detach().norm()
        y = y * torch.where(norm > self.limit, self.limit / norm, 1.0)
        return y * (self.calls / self.warm_up).clamp(max=1.0)
        # SKELETON
        # # TODO: where does Python need a number of the device's, and which number changes with each call?
        # self.calls += 1
        # y = F.gelu(self.linear(x))
        # norm = y.norm().item()
        # if norm > self.limit:
        #     y = y * (self.limit / norm)
        # return y * min(1.0, self.calls / self.warm_up)
        # END SOLUTION
