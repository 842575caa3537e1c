// CUDA's header of this name: device.hpp has what kernels need of it.
#pragma once
