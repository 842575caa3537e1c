/// \file
/// Several cores count and compute the same as one core.
#pragma once

#include <cstdlib>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "catch.hpp"
#include "cpu_device/running/cores.hpp"
#include "harness/tables/derived_counts.hpp"

/// A variable of the environment, as long as it lives.
class Variable {
 public:
  Variable(const char* name, const std::string& value) : name_(name) {
    if (const char* text = std::getenv(name)) before_ = text;
    setenv(name, value.c_str(), 1);
  }
  ~Variable() { before_ ? setenv(name_, before_->c_str(), 1) : unsetenv(name_); }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

 private:
  const char* name_;
  std::optional<std::string> before_;
};

/// Spreads every grid over that many cores, however few accesses it makes, as long as it lives. Counts how
/// often it happens.
class OnCores {
 public:
  explicit OnCores(unsigned cores) : cores_("WORKBOOK_CORES", std::to_string(cores)) {
    cpu::spread_rule().least_accesses = 0;
    cpu::spread_rule().most_bytes_per_access = 1e18;
  }
  ~OnCores() {
    cpu::spread_rule().least_accesses = before_.least_accesses;
    cpu::spread_rule().most_bytes_per_access = before_.most_bytes_per_access;
  }

  long long spread() const { return cpu::spread_rule().spread - before_.spread; }
  long long thrown_away() const { return cpu::spread_rule().thrown_away - before_.thrown_away; }

 private:
  Variable cores_;
  const cpu::SpreadRule before_ = cpu::spread_rule();
};

inline std::string text(const workbook::Counts& counts) {
  return workbook::counts_json(&counts).dump() + " barriers " + std::to_string(counts.barriers);
}

/// The counts of one kernel or stage, and its results: bytes, a hash of them, or the error.
struct Outcome {
  std::string name, counts, result;
};

inline void check_equal(const std::vector<Outcome>& one, const std::vector<Outcome>& other) {
  REQUIRE(one.size() == other.size());
  for (std::size_t i = 0; i < one.size(); ++i) {
    INFO(one[i].name);
    CHECK(one[i].counts == other[i].counts);
    CHECK((one[i].result == other[i].result));
  }
}

/// Runs kernels on one core and on several, and checks that most of them were spread.
inline void check_all(std::vector<Outcome> (*run)(), std::initializer_list<unsigned> numbers) {
  std::vector<Outcome> one;
  {
    const OnCores use(1);
    one = run();
    CHECK(use.spread() == 0);
  }
  for (const unsigned cores : numbers) {
    const OnCores use(cores);
    check_equal(one, run());
    CHECK(use.spread() >= static_cast<long long>(one.size()) * 2 / 3);
  }
}
