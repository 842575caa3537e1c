/// \file
/// Exercise 01.3, vectorise: what it asks for, and how the file that is judged is called.
#include "../multiply_add.hpp"

namespace DEVICE {
namespace {

using namespace workbook;

constexpr auto kX = input<float>("x", elements);
constexpr auto kY = input<float>("y", elements);

void fill(const Data& host) {
  const int n = host.shape.dims[0];
  fill_uniform(host[kX], n, -1.0f, 2.0f, 21);
  fill_uniform(host[kY], n, -2.0f, 3.0f, 22);
}

void reference(const Data& host, double* expected, double* magnitude) {
  const float *x = host[kX], *y = host[kY];
  for (int i = 0; i < host.shape.dims[0]; ++i)
    reference_element(kFactor, x[i], y[i], &expected[i], &magnitude[i]);
}

constexpr auto kOut = output<float>("out", elements, reference, {&kX, &kY});
constexpr const Array* kArrays[] = {&kX, &kY, &kOut};

/// As kHostileLengths, but for a last prime that is an eighth as long: each is judged in eight alignments.
const Shape kShapes[] = {{{1, 1, 1}},    {{2, 1, 1}},     {{3, 1, 1}},    {{4, 1, 1}},    {{5, 1, 1}},
                         {{31, 1, 1}},   {{32, 1, 1}},    {{33, 1, 1}},   {{127, 1, 1}},  {{255, 1, 1}},
                         {{256, 1, 1}},  {{257, 1, 1}},   {{1023, 1, 1}}, {{1024, 1, 1}}, {{4098, 1, 1}},
                         {{5000, 1, 1}}, {{131101, 1, 1}}};

/// One per vector, in whole blocks.
long long threads(const Shape& s) { return elements(s) / 4 + 1024; }

/// One request per 32 vectors of 4 elements, and a few for head and tail.
long long requests(const Shape& s) { return elements(s) / 128 + 8; }

long long two_requests(const Shape& s) { return 2 * requests(s); }
/// The vectors may begin in the middle of a sector: then the 512 bytes of a warp are in 17 sectors. Head and
/// tail request the sectors in which the vectors begin and end once more.
long long unaligned_bytes(const Shape& s) { return array_bytes(s) / 16 * 17 + 4 * sector_bytes(1); }
long long two_reads(const Shape& s) { return 2 * unaligned_bytes(s); }

const Limit kLimits[] = {
    {Cost::kLaunches, one, "head, vectors and tail go into one kernel"},
    {Cost::kThreads, threads,
     "a thread has four elements: does the grid still have a thread for each element?"},
    {Cost::kLoadRequests, two_requests,
     "a warp can load 512 bytes in one instruction: are these arrays loaded as float4, and is each float4 "
     "copied to a variable before its members are used?"},
    {Cost::kStoreRequests, requests, "out can be stored as float4 too: is it, with these arrays?"},
    {.cost = Cost::kReadBytes,
     .allowed = two_reads,
     .excess =
         "x and y are needed once each: do several threads load the same elements, or does a load fetch a "
         "part of a float4 that another one fetches as well?",
     .scattered = "do neighbouring threads load neighbouring vectors?"},
    {.cost = Cost::kWrittenBytes,
     .allowed = unaligned_bytes,
     .excess = "out must be written once: do several threads store the same elements?",
     .scattered = "do neighbouring threads store neighbouring vectors?"},
};

}  // namespace

Exercise exercise() {
  return {.learnt = "The same bytes take a quarter of the requests, so more bytes are in flight at a time.",
          .lesson = "docs/01_multiply_add.md, stage 3",
          .arrays = kArrays,
          .fill = fill,
          .output = {&kOut},
          .roundings = multiply_add_roundings,
          .limits = kLimits,
          .shapes = kShapes,
          .any_alignment = true};
}

// --- How the file that is judged is called ---

namespace {

void run(const Data& d) {
  multiply_add_vectorise::scale_and_add(kFactor, d[kX], d[kY], d[kOut], d.shape.dims[0]);
}

}  // namespace

Answer answer() { return {.run = run}; }

}  // namespace DEVICE
