#include "catch.hpp"
#include "harness/repeats.hpp"

using workbook::Repeats;

namespace {

/// A memory of one number, and kernels that change it.
struct Machine {
  Repeats repeats;
  int memory = 0, runs = 0;

  /// Launches a kernel with one argument; returns whether it has run.
  template <class Kernel>
  bool launch(int argument, Kernel kernel, bool prints = false) {
    static const char address = 0;
    const cpu::Launch launch = {.kernel = &address, .grid = {1, 1, 1}, .block = {32, 1, 1}};
    return repeats.run(
        launch, {&argument, sizeof argument}, [&] { return static_cast<std::size_t>(memory); },
        [&] {
          ++runs;
          kernel(memory, argument);
          return prints;
        });
  }
};

void set(int& memory, int argument) { memory = argument; }
void add(int& memory, int argument) { memory += argument; }

}  // namespace

TEST_CASE("repeats: a launch that has changed nothing is not run again in the same memory") {
  Machine machine;
  CHECK(machine.launch(7, set));
  CHECK(machine.launch(7, set));  // only this one shows that nothing changes
  for (int i = 0; i < 100; ++i) CHECK_FALSE(machine.launch(7, set));
  CHECK(machine.runs == 2);
  CHECK(machine.launch(8, set));
  CHECK(machine.memory == 8);
  CHECK(machine.launch(7, set));  // the memory is another now
  CHECK(machine.memory == 7);
  machine.memory = 3;  // by the host
  CHECK(machine.launch(7, set));
  CHECK(machine.memory == 7);
}

TEST_CASE("repeats: a launch that changes something, or prints, runs each time") {
  Machine machine;
  for (int i = 0; i < 10; ++i) CHECK(machine.launch(2, add));
  CHECK(machine.memory == 20);
  for (int i = 0; i < 10; ++i) CHECK(machine.launch(20, set, true));
}

TEST_CASE("repeats: without the bytes of its arguments, a launch runs each time") {
  Repeats repeats;
  const auto memory = [] { return std::size_t{1}; };
  for (int i = 0; i < 5; ++i) CHECK(repeats.run({}, {}, memory, [] { return false; }));
}
