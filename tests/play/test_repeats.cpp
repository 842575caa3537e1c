#include "catch.hpp"
#include "play/runtime/repeats.hpp"

using workbook::Repeats;

namespace {

/// A memory of two numbers, and kernels that change them. The host may change the second at any time.
struct Machine : workbook::LaunchMemory {
  Repeats repeats;
  int memory[2] = {0, 0}, runs = 0, hashed = 0;
  char known[2] = {0, 0};
  std::size_t number = 1, versions[2] = {1, 1};
  std::optional<std::vector<workbook::UsedArray>> used_arrays;  ///< by the last launch

  explicit Machine(std::size_t most_bytes = 100) : repeats(most_bytes) {}

  std::optional<std::vector<workbook::UsedArray>> used() override { return used_arrays; }
  bool is_unchanged(const std::vector<workbook::UsedArray>& arrays) override {
    return std::all_of(arrays.begin(), arrays.end(), [&](const workbook::UsedArray& array) {
      return versions[static_cast<const int*>(array.begin) - memory] == array.state;
    });
  }
  void note_write(const workbook::MemoryPiece& piece) override {
    ++versions[reinterpret_cast<const int*>(piece.bytes.data()) - memory];
  }
  /// Notes that a kernel has written one of the numbers and read the other.
  void note_use(int written) {
    ++versions[written];
    used_arrays = {{memory, versions[0]}, {memory + 1, versions[1]}};
  }
  std::vector<workbook::MemoryPiece> pieces() override {
    std::vector<workbook::MemoryPiece> both;
    for (int i = 0; i < 2; ++i)
      both.push_back({{reinterpret_cast<char*>(memory + i), sizeof(int)}, {known + i, 1}, i == 1});
    return both;
  }
  std::size_t version() override { return number; }
  std::shared_ptr<void> open() override {
    ++number, ++hashed;
    return std::make_shared<int>();
  }
  /// Launches a kernel with one argument; returns whether it has run.
  template <class Kernel>
  bool launch(int argument, Kernel kernel, bool prints = false, int gpu = 0) {
    static const char address = 0;
    const cpu::Launch launch = {.kernel = &address, .grid = {1, 1, 1}, .block = {32, 1, 1}};
    return repeats.run(launch, {&argument, sizeof argument}, gpu, *this, [&] {
      ++runs, ++number;
      used_arrays.reset();
      kernel(*this, argument);
      return prints;
    });
  }
};

void set(Machine& machine, int argument) { machine.memory[0] = argument; }
void add(Machine& machine, int argument) { machine.memory[0] += argument; }
void copy(Machine& machine, int argument) {
  machine.memory[argument] = machine.memory[1 - argument];
  machine.note_use(argument);
}
void note(Machine& machine, int argument) { machine.known[1] = static_cast<char>(argument); }

}  // namespace

TEST_CASE("repeats: a launch that has changed nothing is not run again in the same memory") {
  Machine machine;
  CHECK(machine.launch(7, set));
  CHECK(machine.launch(7, set));  // only this one shows that nothing changes
  for (int i = 0; i < 100; ++i) CHECK_FALSE(machine.launch(7, set));
  CHECK(machine.runs == 2);
  CHECK(machine.launch(8, set));
  CHECK(machine.memory[0] == 8);
  CHECK(machine.launch(7, set));  // the memory is another now
  CHECK(machine.memory[0] == 7);
  machine.memory[0] = 3, ++machine.number;  // by the host
  CHECK(machine.launch(7, set));
  CHECK(machine.memory[0] == 7);
}

TEST_CASE("repeats: launches that change the memory in turn are not run again once the states repeat") {
  Machine machine;
  for (int i = 0; i < 50; ++i) {
    const bool may_run = i < 3;  // 0, 5, 7; then 7, 5, 7
    const bool has_set = machine.launch(5, set), has_added = machine.launch(2, add);
    CHECK((may_run || !(has_set || has_added)));
    CHECK(machine.memory[0] == 7);
  }
  CHECK(machine.runs <= 5);
  machine.memory[1] = 1;  // the memory is another, though no kernel uses this
  CHECK(machine.launch(5, set));
  CHECK(machine.memory[1] == 1);
  CHECK(machine.launch(2, add));
  CHECK_FALSE(machine.launch(5, set));
  CHECK_FALSE(machine.launch(2, add));
  machine.memory[0] = 6, ++machine.number;
  CHECK(machine.launch(2, add));
  CHECK(machine.memory[0] == 8);
}

TEST_CASE("repeats: a launch that reads nothing that it writes runs once, until what it uses is written") {
  Machine machine;
  machine.memory[1] = 5;
  CHECK(machine.launch(0, copy));
  for (int i = 0; i < 9; ++i) CHECK_FALSE(machine.launch(0, copy));
  CHECK(machine.hashed == 0);
  for (const int written : {0, 1}) {  // by the host: what it has written, then what it has read
    machine.memory[written] = 6, ++machine.number, ++machine.versions[written];
    CHECK(machine.launch(0, copy));
    CHECK(machine.memory[0] == machine.memory[1]);
    CHECK_FALSE(machine.launch(0, copy));
  }
  machine.memory[1] = 7;
  CHECK_FALSE(machine.launch(0, copy));  // nobody has noted the write
  CHECK(machine.launch(1, copy));        // writes what the other one reads
  CHECK_FALSE(machine.launch(1, copy));
  CHECK(machine.launch(0, copy));
}

TEST_CASE("repeats: what a repeated launch writes is noted") {
  Machine machine;
  machine.memory[1] = 3;
  const auto write_3 = [&] { machine.memory[0] = 3, ++machine.number, ++machine.versions[0]; };
  for (const bool runs : {true, true, false}) {
    write_3();
    CHECK(machine.launch(7, set) == runs);
  }
  write_3();
  CHECK(machine.launch(1, copy));
  CHECK_FALSE(machine.launch(7, set));
  CHECK(machine.launch(1, copy));
  CHECK(machine.memory[1] == 7);
}

TEST_CASE("repeats: what is known about the bytes belongs to the state") {
  Machine machine;
  CHECK(machine.launch(1, note));
  CHECK(machine.launch(1, note));
  CHECK_FALSE(machine.launch(1, note));
  machine.known[1] = 0;
  CHECK(machine.launch(1, note));
  machine.known[1] = 0;
  CHECK_FALSE(machine.launch(1, note));
  CHECK(machine.known[1] == 1);
}

TEST_CASE("repeats: a memory that has not changed is not opened") {
  Machine machine;
  for (int i = 0; i < 3; ++i) machine.launch(7, set);
  const int before = machine.hashed;
  for (int i = 0; i < 9; ++i) CHECK_FALSE(machine.launch(7, set));
  CHECK(machine.hashed == before);
}

TEST_CASE("repeats: changes that are too large are not kept") {
  Machine machine(4);  // a piece has 5 bytes
  for (int i = 0; i < 10; ++i) {
    CHECK(machine.launch(5, set));
    CHECK(machine.launch(2, add));
  }
  machine.launch(9, set);
  machine.launch(9, set);
  CHECK_FALSE(machine.launch(9, set));  // nothing to keep
}

TEST_CASE("repeats: a launch that changes something, or prints, runs each time") {
  Machine machine;
  for (int i = 0; i < 10; ++i) CHECK(machine.launch(2, add));
  CHECK(machine.memory[0] == 20);
  for (int i = 0; i < 10; ++i) CHECK(machine.launch(20, set, true));
}

TEST_CASE("repeats: on another GPU, a launch runs again") {
  Machine machine;
  for (const int gpu : {0, 1, 0, 1}) machine.launch(7, set, false, gpu);
  CHECK(machine.runs == 4);
  CHECK_FALSE(machine.launch(7, set));
  CHECK_FALSE(machine.launch(7, set, false, 1));
}

TEST_CASE("repeats: without the bytes of its arguments, a launch runs each time") {
  Machine machine;
  for (int i = 0; i < 5; ++i) CHECK(machine.repeats.run({}, {}, 0, machine, [] { return false; }));
}

TEST_CASE("repeats: launches that have been forgotten run again") {
  Machine machine;
  for (int i = 0; i < 3; ++i) machine.launch(7, set);
  CHECK_FALSE(machine.launch(7, set));
  machine.repeats.clear();
  CHECK(machine.launch(7, set));
}
