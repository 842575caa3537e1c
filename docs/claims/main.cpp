/// \file
/// Prints what docs/claims.md quotes: `claims passes`, `claims zero`, `claims rounding` or `claims race`,
/// docs/exact_division.md: `claims quotient`, docs/04_relu_layernorm.md: `claims variance`, and
/// docs/08_attention.md: `claims softmax`.
#include <fmt/format.h>

#include <cmath>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "claims.hpp"
#include "cpu_device/findings/finding.hpp"
#include "harness/backends/backend.hpp"
#include "harness/tables/derived_counts.hpp"
#include "system/exit_status.hpp"
#include "system/terminal.hpp"

namespace {

constexpr int kN = 1 << 20;
constexpr int kRows = kN / cpu::claims::kColumns;

/// Arrays of kN elements on the CPU device; `a`, `b` and `c` hold random numbers.
struct Arrays {
  std::unique_ptr<workbook::Backend> backend = workbook::make_cpu_backend();
  float* a = random("a");
  float* b = random("b");
  float* c = random("c");
  float* product = array<float>("product");
  float* out = array<float>("out");
  int* rounded = array<int>("rounded");

  template <class T>
  T* array(const std::string& name) {
    return static_cast<T*>(backend->allocate(kN * sizeof(T), 0, name, sizeof(T)));
  }
  float* random(const std::string& name) {
    std::mt19937 generator(kN + name[0]);
    std::uniform_real_distribution<float> between(-1, 1);
    std::vector<float> values(kN);
    for (float& value : values) value = between(generator);
    float* on_device = array<float>(name);
    backend->upload(on_device, values.data(), kN * sizeof(float));
    return on_device;
  }
};

void print_bytes(Arrays& arrays, const char* name, const std::function<void()>& run) {
  const workbook::Counts counts = arrays.backend->run(run);
  const double per_element = 1.0 / kN;
  fmt::print("{:34}{:9.1f}{:7.1f}{:12.1f}{:7.1f}\n", name, workbook::read_bytes(counts) * per_element,
             workbook::written_bytes(counts) * per_element, counts.compulsory_read_bytes * per_element,
             counts.compulsory_write_bytes * per_element);
}

void print_heading() {
  fmt::print("{:34}{:>16}{:>19}\n", "bytes per element", "requested", "from and to DRAM");
  fmt::print("{:34}{:>9}{:>7}{:>12}{:>7}\n", "", "read", "write", "read", "write");
}

void passes() {
  Arrays at;
  fmt::print("{} rows of {} floats\nDRAM: what a cold cache that loses nothing must fetch and store\n\n",
             kRows, cpu::claims::kColumns);
  print_heading();
  print_bytes(at, "the row is read three times",
              [&] { cpu::claims::normalise_three_reads(at.a, at.out, kRows); });
  print_bytes(at, "the row stays in registers",
              [&] { cpu::claims::normalise_one_read(at.a, at.out, kRows); });
}

void zero() {
  Arrays at;
  const auto two_kernels = [&] {
    cpu::claims::multiply(at.a, at.b, at.product, kN);
    cpu::claims::add(at.product, at.c, at.out, kN);
  };
  const auto one_kernel = [&] { cpu::claims::multiply_add(at.a, at.b, at.c, at.out, kN); };
  fmt::print("out = a * b + c, {} floats\n\n", kN);
  print_heading();
  print_bytes(at, "two kernels", two_kernels);
  print_bytes(at, "one kernel", one_kernel);
  print_bytes(at, "one kernel, out filled with zeros", [&] {
    cpu::claims::zero(at.out, kN);
    one_kernel();
  });
}

/// How many of the first `count` elements of `values` the two ways round differently, and one of them.
void print_rounding(Arrays& at, const char* name, const std::vector<float>& values, float scale) {
  const int count = static_cast<int>(values.size());
  const auto rounded_by = [&](auto quantise) {
    at.backend->upload(at.a, values.data(), count * sizeof(float));
    at.backend->run([&] { quantise(at.a, scale, at.rounded, count); });
    std::vector<int> rounded(count);
    at.backend->download(rounded.data(), at.rounded, count * sizeof(int));
    return rounded;
  };
  const std::vector<int> divided = rounded_by(cpu::claims::quantise_by_division);
  const std::vector<int> multiplied = rounded_by(cpu::claims::quantise_by_reciprocal);
  const std::vector<int> corrected = rounded_by(cpu::claims::quantise_by_corrected);
  int differing = 0, still_differing = 0, first = -1;
  for (int i = 0; i < count; ++i) {
    if (divided[i] != multiplied[i] && ++differing == 1) first = i;
    if (divided[i] != corrected[i]) ++still_differing;
  }
  fmt::print("{:22}{:2} of {:7} differ, corrected {}", name, differing, count, still_differing);
  if (first >= 0)
    fmt::print("\n    for example {:.7g} becomes {}, not {}", values[first], multiplied[first],
               divided[first]);
  fmt::print("\n");
}

void rounding() {
  Arrays at;
  for (const float scale : {0.1f, 0.7f}) {
    std::vector<float> halves, random(kN);
    for (int k = -127; k < 127; ++k) halves.push_back((k + 0.5f) * scale);
    std::mt19937 generator(kN);
    std::uniform_real_distribution<float> between(-127 * scale, 127 * scale);
    for (float& value : random) value = between(generator);
    fmt::print("scale {}\n", scale);
    print_rounding(at, "  halfway between two", halves, scale);
    print_rounding(at, "  at random", random, scale);
  }
}

/// The three instructions of chapter 03's divided(), one by one.
void quotient() {
  static constexpr int kPairs = 1 << 24;
  std::mt19937 generator(kPairs);
  const auto significand = [&] { return static_cast<float>(1u << 23 | generator() >> 9); };
  int product_wrong = 0, remainder_rounded = 0, result_wrong = 0;
  for (int i = 0; i < kPairs; ++i) {
    const float x = significand(), scale = significand();
    const float reciprocal = 1.0f / scale, nearly = x * reciprocal, remainder = std::fma(-scale, nearly, x);
    product_wrong += nearly != x / scale;
    remainder_rounded += remainder != x - static_cast<double>(scale) * nearly;  // exact in double
    result_wrong += std::fma(remainder, reciprocal, nearly) != x / scale;
  }
  const auto print = [](const char* what, int count) {
    fmt::print("{:34}{:8} of {}, {:.2f} %\n", what, count, kPairs, 100.0 * count / kPairs);
  };
  print("x * (1 / scale) is not x / scale", product_wrong);
  print("the remainder had to be rounded", remainder_rounded);
  print("the corrected quotient is wrong", result_wrong);
}

void variance() {
  Arrays at;
  constexpr int kCount = 4096;
  for (const double mean : {0.0, 100.0, 1e4}) {
    std::mt19937 generator(kCount);
    std::normal_distribution<double> around(mean, 1);
    std::vector<float> values(kCount);
    for (float& value : values) value = static_cast<float>(around(generator));
    double sum = 0, squares = 0;
    for (const float value : values) sum += value;
    for (const float value : values) squares += (value - sum / kCount) * (value - sum / kCount);
    at.backend->upload(at.a, values.data(), kCount * sizeof(float));
    at.backend->run([&] { cpu::claims::variances(at.a, at.out, kCount); });
    float found[3];
    at.backend->download(found, at.out, sizeof found);
    fmt::print("mean {:g}, variance {:.6f}\n", mean, squares / kCount);
    fmt::print("  E[x^2] - E[x]^2   {:10.6f}\n  two passes        {:10.6f}\n  Welford and Chan  {:10.6f}\n",
               found[0], found[1], found[2]);
  }
}

void softmax() {
  Arrays at;
  constexpr int kCount = 1000;
  fmt::print("{:26}{:>22}{:>22}\n{:26}{:>11}{:>11}{:>11}{:>11}\n", "softmax of 1000 scores",
             "without the maximum", "with the maximum", "", "sum", "error", "sum", "error");
  for (const float most : {10.0f, 80.0f, 100.0f, 1e4f}) {
    std::mt19937 generator(kCount);
    std::uniform_real_distribution<float> between(most - 20, most);
    std::vector<float> scores(kCount), weights(kCount);
    std::vector<double> expected(kCount);
    double total = 0;
    for (float& score : scores) score = between(generator);
    for (int i = 0; i < kCount; ++i) total += expected[i] = std::exp(static_cast<double>(scores[i]) - most);
    at.backend->upload(at.a, scores.data(), kCount * sizeof(float));
    at.backend->run([&] { cpu::claims::softmaxes(at.a, at.product, at.out, kCount); });
    fmt::print("scores up to {:<13g}", most);
    for (const float* result : {at.product, at.out}) {
      at.backend->download(weights.data(), result, kCount * sizeof(float));
      double sum = 0, error = 0;
      for (int i = 0; i < kCount; ++i) {
        const double off = std::fabs(weights[i] - expected[i] / total) / (expected[i] / total);
        sum += weights[i];
        error = off > error || std::isnan(off) ? off : error;
      }
      if (std::isnan(sum))
        fmt::print("{:>11}{:>11}", "NaN", "NaN");
      else
        fmt::print("{:11.6f}{:11.0e}", sum, error);
    }
    fmt::print("\n");
  }
}

void race() {
  Arrays at;
  try {
    at.backend->run([&] { cpu::claims::normalise_racing(at.a, at.out, kRows); });
    fmt::print("nothing was found\n");
  } catch (const cpu::Finding& found) {
    fmt::print("{}", workbook::indented(found.what(), 0));
  }
}

}  // namespace

int main(int count, char** arguments) {
  const std::string claim = count == 2 ? arguments[1] : "";
  if (claim == "passes") {
    passes();
  } else if (claim == "zero") {
    zero();
  } else if (claim == "rounding") {
    rounding();
  } else if (claim == "quotient") {
    quotient();
  } else if (claim == "variance") {
    variance();
  } else if (claim == "softmax") {
    softmax();
  } else if (claim == "race") {
    race();
  } else {
    fmt::print(stderr, "usage: claims passes|zero|rounding|quotient|variance|softmax|race\n");
    return workbook::kBadUsage;
  }
}
