// Execution space specifiers, __global__ and __device__: what lacks them is found, and everything that nvcc
// compiles is accepted.
#include <algorithm>
#include <string>

#include "catch.hpp"
#include "tests/cpu_device/findings.hpp"
#include "tests/cpu_device/kernel_lines.hpp"
#include "kernels/specifiers.hpp"

namespace test_specifiers {
namespace {

using namespace cpu::test_kernels;

/// The finding of `run`, or "".
std::string found(workbook::Backend& backend, void (*run)(float*)) {
  DeviceArray<float> x(backend, 2);
  backend.fill(x.data(), 0, 2 * sizeof(float));
  return finding_of(backend, [&] { run(x.data()); });
}

}  // namespace

TEST_CASE_METHOD(Findings, "finding: a kernel without __global__, a function without __device__") {
  for (int i = 0; i < kMissingSpecifierCount; ++i) {
    const MissingSpecifier& one = kMissingSpecifiers[i];
    INFO(one.mistake);
    const int line = kernel_line("specifiers_missing.cu", one.declaration);
    std::string sentence = one.sentence;
    if (const auto at = sentence.find("{}"); at != std::string::npos)
      sentence.replace(at, 2, std::to_string(line));
    const std::string message = found(*backend, one.run);
    CHECK(message.starts_with(std::string(one.kind) + ": kernel "));
    CHECK_THAT(message + "\n", ContainsSubstring("\n  " + sentence + "\n"));
    CHECK(found(*backend, one.run) == message);  // a second launch as well
  }
}

TEST_CASE_METHOD(Findings, "finding: every function without __device__, once, in the order of lines") {
  const auto is_two = [](const MissingSpecifier& one) {
    return std::string(one.mistake) == "the inner one of two helpers";
  };
  const auto two = std::find_if(kMissingSpecifiers, kMissingSpecifiers + kMissingSpecifierCount, is_two);
  const std::string message = found(*backend, two->run);
  const auto inner = message.find("inner (line"), outer = message.find("outer (line");
  CHECK(inner < outer);
  CHECK(outer != std::string::npos);
  CHECK(message.find("inner (line", inner + 1) == std::string::npos);
}

TEST_CASE_METHOD(Findings, "specifiers: everything that nvcc compiles is accepted") {
  for (int i = 0; i < kPresentSpecifierCount; ++i) {
    INFO(kPresentSpecifiers[i].form);
    CHECK(found(*backend, kPresentSpecifiers[i].run) == "");
  }
}

TEST_CASE_METHOD(Findings,
                 "not seen: a missing __device__ where the code or the declaration does not show it") {
  for (int i = 0; i < kUnseenSpecifierCount; ++i) {
    INFO(kUnseenSpecifiers[i].form);
    CHECK(found(*backend, kUnseenSpecifiers[i].run) == "");
  }
}

}  // namespace test_specifiers
