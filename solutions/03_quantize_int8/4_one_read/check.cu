/// \file
/// Exercise 03.4, one_read: what it asks for, and how the file that is judged is called.
#include "../quantize.hpp"

namespace DEVICE {
namespace {

using namespace workbook;

long long rows(const Shape& shape) { return shape.dims[0]; }
long long elements(const Shape& shape) { return static_cast<long long>(shape.dims[0]) * shape.dims[1]; }

/// Halfway between two steps of `scale`; exactly, if that is a power of two, nearly otherwise.
float tie(int c, float scale) { return (static_cast<float>(c % 253 - 126) + 0.5f) * scale; }

constexpr auto kX = input<float>("x", elements);

/// Rows whose largest element differs in size and column; one row of zeros. In every second row every third
/// element is halfway between two steps: of 2^-5 in rows 0, 4, 8, ..., of another scale in the others.
void fill(const Data& host) {
  const int columns = host.shape.dims[1];
  fill_uniform(host[kX], elements(host.shape), -3.0f, 3.0f, 84);
  for (int r = 0; r < host.shape.dims[0]; ++r) {
    float* row = host[kX] + static_cast<long long>(r) * columns;
    const float size = r % 4 == 0 ? 127.0f / 32 : 4.0f + r;
    for (int c = 0; r % 2 == 0 && c < columns; c += 3) row[c] = tie(c, size / 127.0f);
    row[columns - 1 - r * 29 % columns] = r / 2 % 2 == 0 ? size : -size;
    for (int c = 0; r == 2 && c < columns; ++c) row[c] = 0.0f;
  }
}

float scale_of_row(const Data& host, int r) {
  const int columns = host.shape.dims[1];
  float largest = 0.0f;
  for (int c = 0; c < columns; ++c) {
    const float value = fabsf(host[kX][static_cast<long long>(r) * columns + c]);
    if (value > largest) largest = value;
  }
  return largest > 0.0f ? largest / 127.0f : 1.0f;
}

void reference_scales(const Data& host, double* expected, double* magnitude) {
  for (int r = 0; r < host.shape.dims[0]; ++r) magnitude[r] = expected[r] = scale_of_row(host, r);
}

void reference_q(const Data& host, double* expected, double* magnitude) {
  const int columns = host.shape.dims[1];
  for (int r = 0; r < host.shape.dims[0]; ++r) {
    const float scale = scale_of_row(host, r);
    for (int c = 0; c < columns; ++c) {
      const long long i = static_cast<long long>(r) * columns + c;
      expected[i] = step_of(host[kX][i], scale, 0.0f);
      magnitude[i] = 1;
    }
  }
}

/// q follows from the scales, so a mistake in them is named first.
constexpr auto kScales = output<float>("scales", rows, reference_scales, {&kX});
constexpr auto kQ = output<signed char>("q", elements, reference_q, {&kX});
constexpr const Array* kArrays[] = {&kX, &kScales, &kQ};

int roundings(const Shape&) { return 1; }

long long one_read(const Shape& s) { return 4 * elements(s); }
long long one_write(const Shape& s) { return elements(s) + 32 * rows(s); }

const Limit kLimits[] = {
    {.cost = Cost::kReadBytes,
     .allowed = one_read,
     .excess = "where could a thread keep what it has read, until the scale is known?",
     .scattered = kScatteredLoads},
    {.cost = Cost::kWrittenBytes,
     .allowed = one_write,
     .excess = "only q and one scale per row must be written: is something else?",
     .scattered = kScatteredStores},
};

const Shape kShapes[] = {{{1, 1, 1}},    {{3, 2, 1}},    {{6, 31, 1}},   {{7, 33, 1}},
                         {{3, 255, 1}},  {{4, 256, 1}},  {{4, 257, 1}},  {{3, 1023, 1}},
                         {{3, 1025, 1}}, {{5, 2047, 1}}, {{64, 2048, 1}}};

}  // namespace

Exercise exercise() {
  return {
      .learnt =
          "A block can keep a row that it needs twice in registers, which are its largest and fastest "
          "memory. The counts do not tell registers from shared or local memory: a compiler keeps an array "
          "in registers if it knows all its indices.",
      .lesson = "docs/03_quantize_int8.md, stage 8",
      .arrays = kArrays,
      .fill = fill,
      .output = {&kScales, &kQ},
      .roundings = roundings,
      .limits = kLimits,
      .dims = "RxC",
      .shapes = kShapes,
      .timed_shape = {{16384, 2048, 1}}};
}

// --- How the file that is judged is called ---

namespace {

void run(const Data& d) {
  launch(quantize_one_read::quantize_rows, d.shape.dims[0], 256, d[kX], d[kScales], d[kQ], d.shape.dims[1]);
}

}  // namespace

Answer answer() { return {.run = run}; }

}  // namespace DEVICE
