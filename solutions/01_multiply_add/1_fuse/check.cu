/// \file
/// Exercise 01.1, fuse: what it asks for, and how the file that is judged is called.
#include "../multiply_add.hpp"

namespace DEVICE {
namespace {

using namespace workbook;

void fill(const Data& host) { fill_qkv(host, 11); }

const Limit kLimits[] = {
    {Cost::kLaunches, one, "one kernel can do both operations, without a second launch"},
    {.cost = Cost::kReadBytes,
     .allowed = three_array_bytes,
     .excess = "a fused kernel needs q, k and v once each: is something read again?",
     .scattered = kScatteredLoads},
    {.cost = Cost::kWrittenBytes,
     .allowed = array_bytes,
     .excess = "only out need be written: is the product still going through memory?",
     .scattered = kScatteredStores},
};

}  // namespace

Exercise exercise() {
  return {
      .learnt = "The product never left a register, so 8 of the 24 bytes per element were not moved at all.",
      .lesson = "docs/01_multiply_add.md, stage 2",
      .arrays = kQkvArrays,
      .fill = fill,
      .output = {&kOut},
      .roundings = multiply_add_roundings,
      .limits = kLimits};
}

// --- How the file that is judged is called ---

namespace {

void run(const Data& d) { multiply_add_fuse::multiply_add(d[kQ], d[kK], d[kV], d[kOut], d.shape.dims[0]); }

}  // namespace

Answer answer() { return {.run = run}; }

}  // namespace DEVICE
