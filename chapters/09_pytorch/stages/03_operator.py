"""The operator that C++ registers (operators.cpp), through PyTorch's stable interface. From the dispatcher to
the launch everything is C++: the checks, the allocation, the current stream."""

from workbook_ops import kernels

multiply_add = kernels.multiply_add
