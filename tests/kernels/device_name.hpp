/// \file
/// The namespace of the test kernels' device: as common/device.hpp has it, for the tests, which are ordinary
/// C++ and do without that header. They run the kernels on the CPU device.
#pragma once

#ifndef DEVICE
#ifdef __CUDACC__
#define DEVICE gpu
#else
#define DEVICE cpu
#endif
#endif
