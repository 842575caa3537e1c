/// \file
/// Exercise 02.2, chain: how the file that is judged is called.
#include "chain.hpp"

namespace DEVICE {
namespace {

template <class T>
void run_kind(const workbook::Data& d) {
  constexpr int kThreads = 256;
  const int n = d.shape.dims[0], blocks = ceil_div(n, kThreads);
  const T *a = array<T>(d, kA), *b = array<T>(d, kB);
  namespace chain = add_mul_exp_chain;
  launch(chain::elementwise<chain::AddRelu, T>, blocks, kThreads, a, b, array<T>(d, kAddRelu), n);
  launch(chain::elementwise<chain::MultiplyTanh, T>, blocks, kThreads, a, b, array<T>(d, kMultiplyTanh), n);
  launch(chain::elementwise<chain::BiasGelu, T>, blocks, kThreads, a, b, array<T>(d, kBiasGelu), n);
  launch(chain::elementwise<chain::BiasGeluTanh, T>, blocks, kThreads, a, b, array<T>(d, kBiasGeluTanh), n);
}

void run(const workbook::Data& d) {
  run_kind<float>(d);
  run_kind<double>(d);
  run_kind<__half>(d);
  run_kind<__nv_bfloat16>(d);
}

}  // namespace

workbook::Answer answer() { return {.run = run}; }

}  // namespace DEVICE
