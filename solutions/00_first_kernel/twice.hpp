/// \file
/// Shared by the specifications of chapter 00: out = 2 * x, each element read once and written once.
#pragma once
#include "device.hpp"
#include "exercise.hpp"

namespace DEVICE {
namespace {

using namespace workbook;

long long elements(const Shape& shape) { return shape.dims[0]; }

constexpr auto kX = input<float>("x", elements);

void fill(const Data& host) { fill_uniform(host[kX], host.shape.dims[0], -1.0f, 2.0f, 11); }

void reference(const Data& host, double* expected, double* magnitude) {
  for (int i = 0; i < host.shape.dims[0]; ++i) {
    expected[i] = 2.0 * host[kX][i];
    magnitude[i] = expected[i] < 0 ? -expected[i] : expected[i];
  }
}

constexpr auto kOut = output<float>("out", elements, reference, {&kX});
constexpr const Array* kArrays[] = {&kX, &kOut};

/// Doubling is exact.
int no_roundings(const Shape&) { return 0; }

long long each_once(const Shape& s) { return sector_bytes(elements(s)); }

const Limit kLimits[] = {
    {.cost = Cost::kReadBytes,
     .allowed = each_once,
     .excess = "x needs to be read only once: do several threads or blocks load the same elements?",
     .scattered = "do neighbouring lanes load neighbouring elements, from the start of a sector on?"},
    {.cost = Cost::kWrittenBytes,
     .allowed = each_once,
     .excess = "out needs to be written only once: do several threads or blocks store the same elements?",
     .scattered = "do neighbouring lanes store neighbouring elements, from the start of a sector on?"}};

/// The specification of one exercise.
Exercise twice_exercise(const char* learnt, const char* lesson) {
  return {.learnt = learnt,
          .lesson = lesson,
          .arrays = kArrays,
          .fill = fill,
          .output = {&kOut},
          .roundings = no_roundings,
          .limits = kLimits};
}

}  // namespace
}  // namespace DEVICE
