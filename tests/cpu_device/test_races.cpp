// The race detector against an oracle: thousands of small random kernels, for each of which brute force
// decides whether it has a race. Every racy one must get a finding, at the first access that races, and every
// other one none.
//
// Two accesses race when they are by different threads, overlap in a byte, at least one writes, not both are
// atomic, and neither happens before the other. These rules say what happens before what:
//
// 1. The operations of a thread happen in their order in the program.
// 2. All that the threads of a block do before a __syncthreads() happens before all that they do after it.
// 3. A __syncwarp(mask) does the same for the lanes in its mask. So do shuffles and votes here. CUDA does not
//    promise that those order memory, so an order that they alone make is worth a note, but it is no finding.
// 4. All of a launch happens before all of the next one.
// 5. A fence and two atomics on one word hand over. A thread passes a fence, an atomic on a word follows the
// fence by
//    the rules 1 to 3 alone, and another thread does an atomic on the same word later. Then all that happens
//    before the fence, and the first atomic itself, happen before the second atomic and before all that
//    follows it.
//    __threadfence() reaches every thread of the launch, __threadfence_block() those of its own block. An
//    atomic on another word hands nothing over.
//
// Between blocks there is no order but by the rules 4 and 5.
//
// Two things are not part of this. Stores of the same value to a word are worth a note at most, so each store
// of a random program has a value of its own. And a plain load beside an atomic may begin a loop of
// compare-and-swap, so its finding may wait until the next barrier or the end of the block.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <regex>

#include "catch.hpp"
#include "tests/cpu_device/findings.hpp"
#include "tests/cpu_device/random_programs.hpp"

namespace test_races {
namespace {

namespace test_kernels = cpu::test_kernels;
using namespace race_oracle;

enum class Verdict { kAgree, kMissed, kFalse, kLate, kOther };
const char* name(Verdict verdict) {
  switch (verdict) {
    case Verdict::kAgree:
      return "right";
    case Verdict::kMissed:
      return "a race without a finding";
    case Verdict::kFalse:
      return "a finding without a race";
    case Verdict::kLate:
      return "a finding, but an earlier race without one";
    case Verdict::kOther:
      break;
  }
  return "another finding than a race";
}

/// The verdicts of the device and of the oracle about a program.
struct Comparison {
  Verdict verdict = Verdict::kAgree;
  bool racy = false;
  std::string details;
  Execution execution = {};
  std::optional<Stopped> stopped = {};
};

struct RaceTests : Findings {
  /// Two arrays in device memory: one begins at a multiple of 16, one 4 bytes after one.
  struct Array {
    Array(workbook::Backend& backend, std::size_t misalignment)
        : backend(backend),
          data(static_cast<char*>(backend.allocate(test_kernels::kMostBytes, misalignment, "array", 1))) {}
    ~Array() { backend.release(data); }
    Array(const Array&) = delete;
    Array& operator=(const Array&) = delete;
    workbook::Backend& backend;
    char* data;
  };
  Array aligned{*backend, 0}, misaligned{*backend, 4};
  DeviceArray<Done> done{*backend, std::size_t{2} * test_kernels::kMostOperations, "done"};

  /// Runs the program; returns what it did, and in which launch and with which finding it ended.
  struct Run {
    Execution execution;
    int launch = -1;
    std::optional<std::string> finding;
  };
  Run run(const Program& program) {
    Run run;
    char* const array = program.misalignment ? misaligned.data : aligned.data;
    const std::size_t operations = program.launches.size() * test_kernels::kMostOperations;
    backend->fill(array, 0, test_kernels::kMostBytes);
    backend->fill(done.data(), 0, operations * sizeof(Done));
    std::vector<RandomProgram> launches;
    for (const Launch& launch : program.launches) launches.push_back(flat(program, launch));
    try {
      backend->run([&] {
        for (const RandomProgram& launch : launches) {
          ++run.launch;
          test_kernels::random_accesses(launch, array,
                                        done.data() + run.launch * test_kernels::kMostOperations);
        }
      });
    } catch (const cpu::Finding& finding) {
      run.finding = finding.what();
    }
    for (std::size_t l = 0; l < launches.size(); ++l) {
      run.execution.emplace_back(test_kernels::kMostOperations);
      backend->download(run.execution.back().data(), done.data() + l * test_kernels::kMostOperations,
                        test_kernels::kMostOperations * sizeof(Done));
    }
    return run;
  }

  Comparison compare(const Program& program) {
    const Run run = this->run(program);
    return run.finding ? compare_stopped(program, run) : compare_ended(program, run);
  }

 private:
  static std::string text_of(const Program& program, const Race& race) {
    return "  " + text(program, race.one) + "\n  " + text(program, race.other);
  }

  static Comparison compare_ended(const Program& program, const Run& run) {
    const auto found = races(program, run.execution);
    if (found.empty()) return {Verdict::kAgree, false, "", run.execution};
    return {Verdict::kMissed, true,
            "the oracle's race:\n" + text_of(program, found[0]) + "\n" + text(program, run.execution),
            run.execution};
  }

  /// The finding must name two threads that race: the one that was stopped comes first, unless the race is
  /// that of a load beside an atomic, which both have executed.
  static Comparison compare_stopped(const Program& program, const Run& run) {
    const std::string& finding = *run.finding;
    const auto details = [&](const std::string& more) {
      return finding + "\n" + more + text(program, run.execution);
    };
    if (finding.rfind("race in ", 0) != 0) return {Verdict::kOther, false, details("")};
    const auto earlier = races(program, run.execution);
    for (const Race& race : earlier)
      if (!load_beside_atomic(program, race))
        return {Verdict::kLate, true, details("the oracle's race:\n" + text_of(program, race) + "\n")};

    static const std::regex thread("thread \\((\\d+),0,0\\) of block \\((\\d+),0,0\\)");
    std::vector<Stopped> named;
    for (auto match = std::sregex_iterator(finding.begin(), finding.end(), thread);
         match != std::sregex_iterator(); ++match)
      named.push_back({run.launch, std::stoi((*match)[2]), std::stoi((*match)[1])});
    if (named.size() < 2) return {Verdict::kOther, true, details("it does not name two threads\n")};
    const auto is_by = [&](const Place& place, const Stopped& who) {
      const Actor& actor = program.launches[static_cast<std::size_t>(place.launch)]
                               .actors[static_cast<std::size_t>(place.actor)];
      return place.launch == who.launch && actor.block == who.block && actor.thread == who.thread;
    };
    const auto is_named = [&](const Race& race) {
      return (is_by(race.one, named[1]) && is_by(race.other, named[0])) ||
             (is_by(race.one, named[0]) && is_by(race.other, named[1]));
    };
    if (std::any_of(earlier.begin(), earlier.end(), is_named))
      return {Verdict::kAgree, true, "", run.execution};
    std::vector<Race> found;
    try {
      found = races(program, run.execution, named[0]);
    } catch (const std::logic_error& error) {
      return {Verdict::kFalse, false, details(std::string(error.what()) + "\n")};
    }
    if (std::any_of(found.begin(), found.end(), is_named))
      return {Verdict::kAgree, true, "", run.execution, named[0]};
    if (found.empty()) return {Verdict::kFalse, false, details("the oracle knows no race\n")};
    return {Verdict::kFalse, true,
            details("the threads that it names do not race. The oracle's race:\n" +
                    text_of(program, found[0]) + "\n")};
  }
};

}  // namespace

TEST_CASE_METHOD(RaceTests, "races: random kernels, each decided by brute force") {
  // For more, or for others: WORKBOOK_RACE_SEEDS=first:count
  unsigned first = 1, count = 10000;
  if (const char* seeds = std::getenv("WORKBOOK_RACE_SEEDS"))
    REQUIRE(std::sscanf(seeds, "%u:%u", &first, &count) == 2);
  unsigned racy = 0, wrong[5] = {};
  std::string examples;
  // Rules, and how many programs would have a race, or none, if the rule were another.
  struct Needed {
    const char* rule;
    Rules rules;
    unsigned programs = 0;
  };
  Needed needed[] = {{"barriers", {.barriers = false}},
                     {"meetings", {.meetings = false}},
                     {"launches", {.launches = false}},
                     {"fences", {.fences = false}},
                     {"the reach of fences", {.block_fences_stay_in_block = false}}};
  for (unsigned seed = first; seed < first + count; ++seed) {
    const Program program = random_program(seed);
    const Comparison comparison = compare(program);
    racy += comparison.racy;
    if (!comparison.execution.empty())
      for (Needed& n : needed)
        n.programs +=
            races(program, comparison.execution, comparison.stopped, n.rules).empty() == comparison.racy;
    if (comparison.verdict == Verdict::kAgree) continue;
    if (wrong[static_cast<int>(comparison.verdict)]++ > 0) continue;
    const Program small =
        reduced(program, [&](const Program& p) { return compare(p).verdict == comparison.verdict; });
    examples +=
        fmt::format("\nseed {}, reduced: {}\n{}", seed, name(comparison.verdict), compare(small).details);
  }
  INFO(fmt::format("{} of {} programs have a race", racy, count));
  for (int v = 1; v < 5; ++v)
    if (wrong[v]) UNSCOPED_INFO(fmt::format("{}: {}", name(static_cast<Verdict>(v)), wrong[v]));
  INFO(examples);
  CHECK(examples.empty());
  CHECK(racy > count * 3 / 10);
  CHECK(racy < count * 7 / 10);
  for (const Needed& n : needed) {
    INFO("programs that the rule on " << n.rule << " decides: " << n.programs);
    CHECK(n.programs > count / 400);
  }
}

// The oracle itself, on programs whose verdict a person can see.
namespace {

Operation load(int at, int size = 4) { return {Does::kLoad, false, at, size}; }
Operation store(int at, int size = 4) { return {Does::kStore, false, at, size, 1}; }
Operation atomic(int at) { return {Does::kAtomic, false, at, 4}; }
Operation shared(Operation op) {
  op.shared = true;
  return op;
}
Operation fence() { return {Does::kFence}; }
Operation fence_block() { return {Does::kFenceBlock}; }
Operation meet(Does does, unsigned mask, int number) { return {does, false, 0, 0, 0, mask, number}; }
Operation sync(unsigned mask, int number) { return meet(Does::kSyncWarp, mask, number); }

using Segments = std::vector<std::vector<Operation>>;
struct By {
  int block, thread;
  Segments segments;
};

/// One launch of all that.
Program launch_of(const std::vector<By>& all) {
  Program program;
  program.launches.emplace_back();
  Launch& launch = program.launches.back();
  launch.blocks = 3;
  launch.threads = 70;
  for (const By& by : all) launch.segments = std::max(launch.segments, static_cast<int>(by.segments.size()));
  for (const By& by : all) {
    launch.actors.push_back({by.block, by.thread, by.segments});
    launch.actors.back().segments.resize(static_cast<std::size_t>(launch.segments));
  }
  return program;
}

/// All of the program has been executed; `tickets` are those of its atomics, in the order in which it names
/// them.
Execution ended(const Program& program, const std::vector<Done>& tickets = {}) {
  Execution execution = not_begun(program);
  std::size_t next = 0;
  for (std::size_t l = 0; l < program.launches.size(); ++l) {
    std::size_t i = 0;
    for (const Actor& actor : program.launches[l].actors)
      for (const auto& segment : actor.segments)
        for (const Operation& op : segment)
          execution[l][i++] = 1 + (op.does == Does::kAtomic && next < tickets.size() ? tickets[next++] : 0);
  }
  return execution;
}

std::size_t races_of(const std::vector<By>& all, const std::vector<Done>& tickets = {}) {
  const Program program = launch_of(all);
  return races(program, ended(program, tickets)).size();
}

}  // namespace

TEST_CASE("race oracle: what conflicts") {
  CHECK(races_of({{0, 0, {{store(0)}}}, {0, 1, {{store(0)}}}}) == 1);
  CHECK(races_of({{0, 0, {{store(0)}}}, {0, 1, {{load(0)}}}}) == 1);
  CHECK(races_of({{0, 0, {{load(0)}}}, {0, 1, {{store(0)}}}}) == 1);
  CHECK(races_of({{0, 0, {{load(0)}}}, {0, 1, {{load(0)}}}}) == 0);
  CHECK(races_of({{0, 0, {{store(0), load(0), store(0)}}}}) == 0);
  CHECK(races_of({{0, 0, {{store(0)}}}, {0, 1, {{store(4)}}}}) == 0);
  CHECK(races_of({{0, 0, {{store(0, 1)}}}, {0, 1, {{store(1, 1)}}}}) == 0);
  CHECK(races_of({{0, 0, {{store(0, 8)}}}, {0, 1, {{load(7, 1)}}}}) == 1);
  CHECK(races_of({{0, 0, {{store(0, 2)}}}, {0, 1, {{load(2, 2)}}}}) == 0);
  CHECK(races_of({{0, 0, {{atomic(0)}}}, {1, 1, {{atomic(0)}}}}, {0, 1}) == 0);
  CHECK(races_of({{0, 0, {{atomic(0)}}}, {0, 1, {{load(0, 1)}}}}) == 1);
  CHECK(races_of({{0, 0, {{atomic(0)}}}, {0, 1, {{store(0)}}}}) == 1);
  CHECK(races_of({{0, 0, {{load(0)}}}, {0, 1, {{load(0)}}}, {0, 2, {{store(0)}}}}) == 2);
  // Shared memory is each block's own.
  CHECK(races_of({{0, 0, {{shared(store(0))}}}, {1, 0, {{shared(store(0))}}}}) == 0);
  CHECK(races_of({{0, 0, {{shared(store(0))}}}, {0, 1, {{shared(store(0))}}}}) == 1);
  CHECK(races_of({{0, 0, {{shared(store(0))}}}, {0, 1, {{store(0)}}}}) == 0);
}

TEST_CASE("race oracle: barriers order a block, launches everything") {
  CHECK(races_of({{0, 0, {{store(0)}, {}}}, {0, 40, {{}, {load(0)}}}}) == 0);
  CHECK(races_of({{0, 0, {{}, {store(0)}}}, {0, 40, {{}, {load(0)}}}}) == 1);
  CHECK(races_of({{0, 0, {{store(0)}, {}, {}}}, {0, 40, {{}, {}, {load(0)}}}}) == 0);
  CHECK(races_of({{0, 0, {{store(0)}, {}}}, {1, 40, {{}, {load(0)}}}}) == 1);
  Program two = launch_of({{0, 0, {{store(0)}}}});
  two.launches.push_back(launch_of({{1, 3, {{store(0)}}}}).launches[0]);
  CHECK(races(two, ended(two)).empty());
}

TEST_CASE("race oracle: meetings of lanes order those in their mask") {
  for (const Does does : {Does::kSyncWarp, Does::kShuffle, Does::kBallot}) {
    CHECK(races_of({{0, 0, {{store(0), meet(does, 3, 0)}}}, {0, 1, {{meet(does, 3, 0), load(0)}}}}) == 0);
    CHECK(races_of({{0, 0, {{meet(does, 3, 0), store(0)}}}, {0, 1, {{meet(does, 3, 0), load(0)}}}}) == 1);
    // Lane 2 is not in it.
    CHECK(races_of(
              {{0, 0, {{store(0), meet(does, 3, 0)}}}, {0, 1, {{meet(does, 3, 0)}}}, {0, 2, {{load(0)}}}}) ==
          1);
  }
  // From lane 0 by lane 1 to lane 2; and in the other order, which hands nothing over.
  CHECK(races_of({{0, 0, {{store(0), sync(3, 0)}}},
                  {0, 1, {{sync(3, 0), sync(6, 1)}}},
                  {0, 2, {{sync(6, 1), load(0)}}}}) == 0);
  CHECK(races_of({{0, 0, {{store(0), sync(3, 0)}}},
                  {0, 1, {{sync(6, 1), sync(3, 0)}}},
                  {0, 2, {{sync(6, 1), load(0)}}}}) == 1);
}

TEST_CASE("race oracle: a fence and atomics on one word hand over") {
  const auto handed = [](const std::vector<Operation>& from, const std::vector<Operation>& to, int block,
                         const std::vector<Done>& tickets) {
    return races_of({{0, 0, {from}}, {block, 40, {to}}}, tickets) == 0;
  };
  for (const int block : {0, 1}) {
    CHECK(handed({store(0), fence(), atomic(8)}, {atomic(8), load(0)}, block, {0, 1}));
    CHECK_FALSE(handed({store(0), fence(), atomic(8)}, {atomic(8), load(0)}, block, {1, 0}));
    CHECK_FALSE(handed({store(0), atomic(8)}, {atomic(8), load(0)}, block, {0, 1}));
    CHECK_FALSE(handed({store(0), atomic(8), fence()}, {atomic(8), load(0)}, block, {0, 1}));
    CHECK_FALSE(handed({fence(), store(0), atomic(8)}, {atomic(8), load(0)}, block, {0, 1}));
    CHECK_FALSE(handed({store(0), fence(), atomic(8)}, {atomic(12), load(0)}, block, {0, 0}));
    CHECK_FALSE(handed({store(0), fence(), atomic(8)}, {load(0), atomic(8)}, block, {0, 1}));
    CHECK_FALSE(handed({store(0), fence(), atomic(8)}, {fence(), load(0)}, block, {0}));
    CHECK(handed({store(0), fence_block(), atomic(8)}, {atomic(8), load(0)}, block, {0, 1}) == (block == 0));
    CHECK(handed({store(0), fence(), shared(atomic(8))}, {shared(atomic(8)), load(0)}, block, {0, 1}) ==
          (block == 0));
  }
  // The atomic of the one who hands over is handed over too, as where the last block sets its counter to 0.
  CHECK(handed({fence(), atomic(8)}, {atomic(8), store(8)}, 1, {0, 1}));
  CHECK_FALSE(handed({atomic(8)}, {atomic(8), store(8)}, 1, {0, 1}));
  CHECK_FALSE(handed({fence(), store(0), atomic(8)}, {atomic(8), store(8), load(0)}, 1, {0, 1}));
  // The reader hands over to the writer as well.
  CHECK(handed({load(0), fence(), atomic(8)}, {atomic(8), store(0)}, 1, {0, 1}));
  // A later atomic on the same word is enough: the first ticket is another's.
  CHECK(handed({store(0), fence(), atomic(8), atomic(8)}, {atomic(8), load(0)}, 1, {0, 2, 1}));
}

TEST_CASE("race oracle: between a fence and its atomic, threads of a block may hand over") {
  const By reader = {1, 0, {{}, {atomic(8), load(0)}}};
  CHECK(races_of({{0, 0, {{store(0), fence()}, {}}}, {0, 40, {{}, {atomic(8)}}}, reader}, {0, 1}) == 0);
  CHECK(races_of({{0, 0, {{store(0)}, {}}}, {0, 40, {{}, {fence(), atomic(8)}}}, reader}, {0, 1}) == 0);
  CHECK(races_of({{0, 0, {{store(0), fence()}, {}}}, {0, 40, {{atomic(8)}, {}}}, reader}, {0, 1}) == 1);
  CHECK(races_of({{0, 0, {{store(0), fence(), sync(3, 0)}, {}}}, {0, 1, {{sync(3, 0)}, {atomic(8)}}}, reader},
                 {0, 1}) == 0);
  // Another block's thread in between hands over what it received, if it passes a fence itself.
  const By writer = {0, 0, {{store(0), fence(), atomic(8)}}}, third = {2, 0, {{atomic(12), load(0)}}};
  CHECK(races_of({writer, {1, 0, {{atomic(8), fence(), atomic(12)}}}, third}, {0, 1, 0, 1}) == 0);
  CHECK(races_of({writer, {1, 0, {{atomic(8), atomic(12)}}}, third}, {0, 1, 0, 1}) == 1);
}

TEST_CASE("race oracle: only what has been executed counts") {
  const Program program =
      launch_of({{0, 0, {{store(0), store(4)}}}, {0, 1, {{load(8), load(0)}}}, {0, 2, {{store(4)}}}});
  Execution execution = not_begun(program);
  CHECK(races(program, execution).empty());
  execution[0][0] = execution[0][2] = 1;
  CHECK(races(program, execution).empty());
  CHECK(races(program, execution, Stopped{0, 0, 1}).size() == 1);
  CHECK(races(program, execution, Stopped{0, 0, 0}).empty());
  CHECK_THROWS_AS(races(program, execution, Stopped{0, 0, 7}), std::logic_error);

  Operation skip = {Does::kSkipUnless};
  skip.size = 1;
  const Program skips = launch_of({{0, 0, {{store(0), store(4)}}}, {0, 1, {{skip, load(0), load(4)}}}});
  Execution taken = ended(skips), skipped = ended(skips);
  skipped[0][2] = 2;
  skipped[0][3] = 0;
  CHECK(races(skips, taken).size() == 2);
  CHECK(races(skips, skipped).size() == 1);

  // Lane 1 has passed a meeting that lane 0, which came to it as well, has not left yet.
  const Program meets = launch_of({{0, 0, {{load(0), sync(3, 0)}}}, {0, 1, {{sync(3, 0), store(0)}}}});
  Execution passed = ended(meets);
  passed[0][1] = passed[0][3] = 0;
  CHECK(races(meets, passed, Stopped{0, 0, 1}).empty());

  // An atomic at which a launch was stopped came after all others.
  const Program atomics =
      launch_of({{0, 0, {{store(0), fence(), atomic(8)}}}, {0, 1, {{load(8), atomic(8)}}}});
  Execution last = ended(atomics);
  last[0][4] = 0;
  CHECK(races(atomics, last).size() == 1);
  CHECK(races(atomics, last, Stopped{0, 0, 1}).size() == 1);
}

}  // namespace test_races
