/// \file
/// The kernels whose counters on a GPU are in tests/data/counters_h200.json, each with the launch that was
/// counted. tests/counters.py runs them under Nsight Compute, tests/common/cpu/counted_on_cpu.hpp on the CPU
/// device.
#pragma once

#include "device_name.hpp"

namespace DEVICE::test_kernels {

/// Elements of each of the arrays that a launch gets: four of 4 bytes each, from the start of an allocation.
constexpr int kCountedSize = 1 << 20;

/// Fills the inputs, on the host: `a` and `b` with numbers of [-1, 1), `c` with the rows and columns of a
/// sparse matrix and with the numbers of bins. The same on every device; a launch finds 0 in `out`, or what
/// those before it have left there.
void counted_inputs(float* a, float* b, int* c);

/// How the counts of a kernel may differ from the hardware's, and why.
enum class Difference {
  kNone,
  kApproximate,   ///< lanes differ in their number of iterations: equal, or marked as approximate
  kSharedMerged,  ///< nvcc merges neighbouring loads of shared memory: the wavefronts are an upper bound
  kGlobalMerged,  ///< nvcc merges the loads of two branches: requests and sectors are an upper bound
  kUnrolled,      ///< nvcc unrolls a loop that lanes leave at different rounds: a lower bound, or marked
  kCopies,        ///< 16-byte asynchronous copies of a shape whose rule is not known: a lower bound
  kContended,     ///< lanes of a warp update one address: marked, and the atomics are not compared
};

struct CountedKernel {
  const char* name;
  void (*run)(float* a, float* b, float* c, float* out);
  Difference difference = Difference::kNone;
};

struct CountedKernels {
  const CountedKernel* first;
  int count;
};

CountedKernels counted_kernels();

}  // namespace DEVICE::test_kernels
