/// \file
/// Kernels for what the CPU device says about missing execution space specifiers. Each adds to x[0], of two
/// elements.
#pragma once

#include "device_name.hpp"

namespace DEVICE::test_kernels {

/// What nvcc rejects, or, where a function without __global__ is launched, the GPU.
struct MissingSpecifier {
  const char* mistake;
  void (*run)(float* x);
  const char* kind;
  const char* declaration;  ///< how the line with the function begins, in specifiers_missing.cu
  const char* sentence;     ///< of the message, with {} for that line
};
extern const MissingSpecifier kMissingSpecifiers[];
extern const int kMissingSpecifierCount;

/// What nvcc compiles.
struct PresentSpecifier {
  const char* form;
  void (*run)(float* x);
};
/// The same type for what nvcc rejects, although the CPU device does not see why.
extern const PresentSpecifier kUnseenSpecifiers[];
extern const int kUnseenSpecifierCount;
extern const PresentSpecifier kPresentSpecifiers[];
extern const int kPresentSpecifierCount;

}  // namespace DEVICE::test_kernels
