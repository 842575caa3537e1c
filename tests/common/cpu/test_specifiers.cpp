// Execution space specifiers, __global__ and __device__: what lacks them is found, and everything that nvcc
// compiles is accepted.
#include <algorithm>
#include <fstream>
#include <string>

#include "catch.hpp"
#include "common/cpu/findings.hpp"
#include "kernels/specifiers.hpp"
#include "paths.hpp"

namespace test_specifiers {
namespace {

using namespace cpu::test_kernels;

/// The number of the line of the kernels' file that begins with that text.
int line_number(const std::string& begin) {
  std::ifstream file(source_dir() + "/tests/kernels/specifiers_missing.cu");
  int number = 1;
  for (std::string line; std::getline(file, line); ++number)
    if (line.starts_with(begin)) return number;
  FAIL("tests/kernels/specifiers_missing.cu has no line that begins with " << begin);
  return 0;
}

/// The finding of `run`, or "nothing".
std::string found(workbook::Backend& backend, void (*run)(float*)) {
  DeviceArray<float> x(backend, 2);
  backend.fill(x.data(), 0, 2 * sizeof(float));
  try {
    backend.run([&] { run(x.data()); });
  } catch (const cpu::Finding& finding) {
    return finding.what();
  }
  return "nothing";
}

}  // namespace

TEST_CASE_METHOD(Findings, "finding: a kernel without __global__, a function without __device__") {
  for (int i = 0; i < kMissingSpecifierCount; ++i) {
    const MissingSpecifier& one = kMissingSpecifiers[i];
    INFO(one.mistake);
    const int line = line_number(one.declaration);
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
    CHECK(found(*backend, kPresentSpecifiers[i].run) == "nothing");
  }
}

TEST_CASE_METHOD(Findings,
                 "not seen: a missing __device__ where the code or the declaration does not show it") {
  for (int i = 0; i < kUnseenSpecifierCount; ++i) {
    INFO(kUnseenSpecifiers[i].form);
    CHECK(found(*backend, kUnseenSpecifiers[i].run) == "nothing");
  }
}

}  // namespace test_specifiers
