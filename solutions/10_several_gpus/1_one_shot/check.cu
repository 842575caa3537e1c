/// \file
/// Exercise 10.1, one_shot: what it asks for, and how the file that is judged is called.
#include "../rows.hpp"

namespace DEVICE {
namespace {

using namespace workbook;
using namespace rows_on_gpus;

constexpr auto kY = output<float>("y", elements, reference_y, {&kProduct, &kResidual, &kWeight});
constexpr auto kH = output<float>("h", elements, reference_h, {&kProduct, &kResidual, &kWeight});
constexpr const Array* kArrays[] = {&kY, &kH, &kProduct, &kResidual, &kWeight, &kX, &kFlags};

/// A float for each element of each GPU.
long long floats_each(const Shape& s) { return 4 * gpus(s) * elements(s); }

/// Of x, residual, h and weight.
long long bytes_to_read(const Shape& s) {
  return (gpus(s) + 3) * floats_each(s) + 2 * meetings(s, rows(s), 2);
}
long long bytes_to_write(const Shape& s) { return 2 * floats_each(s) + gpus(s) * meetings(s, rows(s), 2); }
long long peer_bytes_to_read(const Shape& s) { return (gpus(s) - 1) * floats_each(s); }
long long peer_bytes_to_write(const Shape& s) { return (gpus(s) - 1) * meetings(s, rows(s), 2); }

const Limit kLimits[] = {
    {Cost::kPeerReadBytes, peer_bytes_to_read, "does each GPU load each element of the others' x once?"},
    {Cost::kPeerWrittenBytes, peer_bytes_to_write,
     "does a GPU store h or y in another one's memory, or meet the others more than twice?"},
    {Cost::kReadBytes, bytes_to_read, "what is loaded twice?", nullptr, kScatteredLoads},
    {Cost::kWrittenBytes, bytes_to_write, "are h and y each stored once?", nullptr, kScatteredStores},
};

}  // namespace

Exercise exercise() {
  return {.learnt =
              "A kernel reads other GPUs' memory as its own, so the sum over the GPUs can stay in registers. "
              "It waits before it reads, and before its own memory is written again.",
          .lesson = "docs/10_several_gpus.md, stage 2",
          .arrays = kArrays,
          .fill = fill,
          .output = {&kH, &kY},
          .roundings = roundings,
          .limits = kLimits,
          .gpus = gpus,
          .dims = "GxRxC",
          .shapes = kShapes,
          .timed_shape = {{2, 512, 8192}}};
}

// --- How the file that is judged is called ---

namespace {

namespace rows = rows_on_gpus;

/// A block for each row.
void run(const Data& d) {
  const auto x = rows::x_on_gpus(d);
  const auto flags = rows::on_gpus<unsigned>(d, kFlags);
  const auto judged = [&](int gpu) {
    launch(one_shot_norm::one_shot, d.shape.dims[1], 256, x, d.of(kResidual, gpu), d.of(kWeight, gpu),
           d.of(kH, gpu), d.of(kY, gpu), flags, d.shape.dims[0], gpu, d.shape.dims[2]);
  };
  rows::run_between(d, judged, [](int) {});
}

}  // namespace

Answer answer() { return {.run = run}; }

}  // namespace DEVICE
