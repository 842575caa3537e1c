/// \file
/// Exercise 10.2, two_shot: what it asks for, and how the file that is judged is called.
#include "../rows.hpp"

namespace DEVICE {
namespace {

using namespace workbook;
using namespace rows_on_gpus;

constexpr auto kH = scratch<float>("h", elements);
constexpr auto kNext = scratch<float>("next", elements);

constexpr auto kY = output<float>("y", elements, reference_y, {&kProduct, &kResidual, &kWeight});
constexpr const Array* kArrays[] = {&kY, &kProduct, &kResidual, &kWeight, &kX, &kH, &kNext, &kFlags};

/// A float for each element of the rows of all GPUs together, which are all rows.
long long floats_once(const Shape& s) { return 4 * elements(s); }
long long most_rows(const Shape& s) { return ceil_div(rows(s), static_cast<long long>(gpus(s))); }

/// Of x, residual, h and weight.
long long bytes_to_read(const Shape& s) {
  return (gpus(s) + 3) * floats_once(s) + 2 * meetings(s, most_rows(s), 2);
}
/// Of h and y.
long long bytes_to_write(const Shape& s) {
  return (gpus(s) + 1) * floats_once(s) + gpus(s) * meetings(s, most_rows(s), 2);
}
long long peer_bytes_to_read(const Shape& s) { return (gpus(s) - 1) * floats_once(s); }
long long peer_bytes_to_write(const Shape& s) {
  return (gpus(s) - 1) * (floats_once(s) + meetings(s, most_rows(s), 2));
}

const Limit kLimits[] = {
    {Cost::kPeerReadBytes, peer_bytes_to_read,
     "does each GPU load the rows that it has alone, and each once?"},
    {Cost::kPeerWrittenBytes, peer_bytes_to_write, "is each element of y stored once on each GPU?"},
    {Cost::kReadBytes, bytes_to_read, "what is loaded twice?", nullptr, kScatteredLoads},
    {Cost::kWrittenBytes, bytes_to_write, "what is stored twice?", nullptr, kScatteredStores},
};

}  // namespace

Exercise exercise() {
  return {
      .learnt =
          "Where each GPU has a part of the rows, no work is done twice, and with more than two GPUs fewer "
          "bytes go over NVLink. Stores to other GPUs need a meeting before anyone reads them.",
      .lesson = "docs/10_several_gpus.md, stage 4",
      .arrays = kArrays,
      .fill = fill,
      .output = {&kY},
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

/// A block for each row of the GPU that has the most. Afterwards each GPU copies its y, as a kernel that uses
/// it would read it.
void run(const Data& d) {
  const auto x = rows::x_on_gpus(d);
  const auto y = rows::on_gpus<float>(d, kY);
  const auto flags = rows::on_gpus<unsigned>(d, kFlags);
  const auto judged = [&](int gpu) {
    launch(two_shot_norm::two_shot, ceil_div(d.shape.dims[1], d.shape.dims[0]), 256, x, d.of(kResidual, gpu),
           d.of(kWeight, gpu), d.of(kH, gpu), y, flags, d.shape.dims[0], gpu, d.shape.dims[1],
           d.shape.dims[2]);
  };
  rows::run_between(d, judged, [&](int gpu) {
    launch(rows::copy<float>, rows::blocks_of_elements(d.shape), 256, y.of[gpu], d.of(kNext, gpu),
           rows::elements(d.shape));
  });
}

}  // namespace

Answer answer() { return {.run = run}; }

}  // namespace DEVICE
