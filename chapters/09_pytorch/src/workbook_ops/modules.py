"""Modules of the operators that have a natural one. Those with parameters are subclasses of PyTorch's, with
the same parameters, state_dict and initial values."""

from typing import Any, Sequence

from torch import Tensor, nn

from . import operators
from .operators import Approximation, Backend


class LinearGELU(nn.Linear):
    """``nn.Linear`` and GELU as one operator, `linear_gelu`."""

    def __init__(self, in_features: int, out_features: int, approximate: Approximation = "none",
                 backend: Backend = "auto", bias: bool = True, device: Any = None, dtype: Any = None) -> None:
        super().__init__(in_features, out_features, bias, device=device, dtype=dtype)
        self.approximate: Approximation = approximate
        self.backend: Backend = backend

    def forward(self, x: Tensor) -> Tensor:
        return operators.linear_gelu(x, self.weight, self.bias, self.approximate, self.backend)

    def extra_repr(self) -> str:
        return (f"{super().extra_repr()}, "
                f"approximate={self.approximate!r}, backend={self.backend!r}")


class LayerNormReLU(nn.LayerNorm):
    """``nn.LayerNorm`` and then ReLU as one operator, `layer_norm_relu`."""

    def forward(self, x: Tensor) -> Tensor:
        return operators.layer_norm_relu(x, self.normalized_shape, self.weight, self.bias, self.eps)


class ReLULayerNorm(nn.LayerNorm):
    """ReLU and then ``nn.LayerNorm`` as one operator, `relu_layer_norm`."""

    def forward(self, x: Tensor) -> Tensor:
        return operators.relu_layer_norm(x, self.normalized_shape, self.weight, self.bias, self.eps)


class ResidualRMSNorm(nn.RMSNorm):
    """``nn.RMSNorm`` of ``x + residual``, and that sum: the operator `residual_rms_norm`. Has a weight."""

    def __init__(self, normalized_shape: int | Sequence[int], eps: float = 1e-5, device: Any = None,
                 dtype: Any = None) -> None:
        super().__init__(normalized_shape, eps, device=device, dtype=dtype)

    def forward(self, x: Tensor, residual: Tensor) -> tuple[Tensor, Tensor]:
        return operators.residual_rms_norm(x, residual, self.weight, self.eps)


class GELUDropout(nn.Module):
    """GELU and, while training, dropout as one operator, `gelu_dropout`."""

    def __init__(self, p: float = 0.5, approximate: Approximation = "none") -> None:
        super().__init__()
        self.p = p
        self.approximate: Approximation = approximate

    def forward(self, x: Tensor) -> Tensor:
        return operators.gelu_dropout(x, self.p, self.training, self.approximate)

    def extra_repr(self) -> str:
        return f"p={self.p}, approximate={self.approximate!r}"
