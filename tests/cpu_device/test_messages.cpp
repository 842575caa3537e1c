// The texts of findings: where a barrier may be missing, which array was meant, in which line the kernel is.
// And a launch that was stopped leaves nothing for the next one.
#include <algorithm>
#include <sstream>

#include "catch.hpp"
#include "cpu_device/memory/memory.hpp"
#include "cpu_device/program_image/source_line.hpp"
#include "cpu_device/races/race_findings.hpp"
#include "cpu_device/running/device.hpp"
#include "kernels/kernels.hpp"
#include "kernels/messages.hpp"
#include "system/terminal.hpp"
#include "tests/cpu_device/findings.hpp"
#include "tests/cpu_device/kernel_lines.hpp"

namespace test_messages {
namespace {

namespace test_kernels = cpu::test_kernels;

int line_number(const std::string& code) { return kernel_line("messages.cu", code); }
std::string line_of(const std::string& code) { return "line " + std::to_string(line_number(code)); }

struct Messages : Findings {
  /// The finding of the kernel with that mistake; without one, it must have none.
  template <class Kernel>
  std::string message(int mistake, Kernel kernel) {
    return finding([&](bool right) { kernel(right ? 0 : mistake); });
  }
  /// The hint on what to check next, on one line.
  static std::string hint(const std::string& message) {
    const auto at = message.find("\n  look at: ");
    REQUIRE(at != std::string::npos);
    const std::string text = message.substr(at + 12);
    CHECK(text.find('\n') == std::string::npos);
    return text;
  }
};

std::string either_way(const std::string& first, const std::string& last) {
  return "missing between " + first + " and " + last + "? Or after " + last + ", before " + first +
         " runs again (in a loop, or in another call)?";
}

}  // namespace

TEST_CASE_METHOD(Messages, "hint of a race: a tile that is not complete, and one that is loaded too early") {
  const auto in = counting<float>(256), out = zeros<float>(64);
  const auto kernel = [&](int mistake) {
    test_kernels::tiled_sum(in->data(), out->data(), mistake == 1 ? 1 : 4, mistake);
  };
  const std::string load = line_of("tile[t] = in["), use = line_of("sum += tile[j];");
  // Without the first barrier, thread 0 reads what no thread has written yet.
  const std::string first = hint(message(1, kernel));
  CHECK_THAT(first, ContainsSubstring("which thread writes it, and does a block of "));
  CHECK_THAT(first, ContainsSubstring("If so, is a __syncthreads() missing before " + use + "?"));
  CHECK(first.find("returned") == std::string::npos);
  // Threads that have returned have written nothing, and no barrier helps.
  CHECK(hint(message(3, kernel)) ==
        "which thread writes it: does a block of 64 threads have that one, or has it returned, as 24 threads "
        "have? If it still runs, is a __syncthreads() missing before " +
            use + "?");
  const std::string missing = hint(message(2, kernel));
  CHECK_THAT(missing, ContainsSubstring("missing after " + use + ", before " + load + " runs again"));
  CHECK_THAT(missing, ContainsSubstring("The barrier at " + line_of("if (mistake != 1) __syncthreads();") +
                                        " only separates " + load + " from the " + use + " that follows"));
}

TEST_CASE_METHOD(Messages, "hint of a race: a barrier inside an if") {
  const auto in = counting<float>(64), out = zeros<float>(64);
  const std::string told = hint(
      message(1, [&](int mistake) { test_kernels::barrier_in_tree(in->data(), out->data(), mistake == 1); }));
  CHECK(told == "threads wait at the barrier at " + line_of("if (in_if) __syncthreads();") +
                    ", and others have gone on to " + line_of("out[t] = part[0];") +
                    " without it: is the barrier inside an `if`? All threads of the block must reach it.");
}

TEST_CASE_METHOD(Messages,
                 "hint of a race: a second call begins before all have read the result of the first") {
  const auto in = counting<float>(64), out = zeros<float>(64);
  const std::string told =
      hint(message(1, [&](int mistake) { test_kernels::two_sums(in->data(), out->data(), mistake == 1); }));
  CHECK_THAT(told,
             ContainsSubstring("missing after " + line_of("return sums[t % 32];") + ", before " +
                               line_of("sums[t] = value;") + " runs again (in a loop, or in another call)"));
}

TEST_CASE_METHOD(Messages, "hint of a race in one line: between the rounds of a loop, or within one") {
  const auto in = counting<float>(64), out = zeros<float>(1);
  const std::string told = hint(
      message(1, [&](int mistake) { test_kernels::tree_sum_in_loop(in->data(), out->data(), mistake); }));
  CHECK_THAT(told, ContainsSubstring("if " + line_of("tree[t] += tree[t + half]") +
                                     " is in a loop, is a __syncthreads() (or a __syncwarp()"));
  CHECK_THAT(told, ContainsSubstring("missing between one iteration and the next?"));
  CHECK_THAT(told, ContainsSubstring("read into a variable, pass the barrier, then write"));
  const auto x = zeros<float>(64);
  CHECK_THAT(hint(message(1, [&](int mistake) { test_kernels::write_once(x->data(), mistake); })),
             ContainsSubstring("do several threads write the same element at " +
                               line_of("x[mistake ? t / 2 : t] = t;")));
}

TEST_CASE_METHOD(Messages,
                 "hint of a race: __syncwarp() between lanes of one warp, __syncthreads() between warps") {
  const auto in = counting<float>(128), out = zeros<float>(128);
  const auto told = [&](int threads, int width) {
    return hint(message(1, [&](int mistake) {
      test_kernels::swap_within(in->data(), out->data(), threads, width, mistake);
    }));
  };
  const std::string read = line_of("const float other = line["), write = line_of("line[t] = 2 * other;");
  const std::string either =
      "is a __syncthreads() (or a __syncwarp(), if no other warp uses the array) missing ";
  CHECK_THAT(told(32, 32), ContainsSubstring(either));
  CHECK_THAT(told(128, 2), ContainsSubstring(either));
  CHECK_THAT(told(128, 32), ContainsSubstring(either + "between " + read + " and " + write));
  CHECK_THAT(told(64, 64), ContainsSubstring("is a __syncthreads() missing "));
  CHECK(told(64, 64).find("__syncwarp") == std::string::npos);
}

TEST_CASE_METHOD(Messages, "hint of a race in device memory: both places, or the one that is left") {
  const auto x = counting<float>(64);
  const auto kernel = [&](int mistake) { test_kernels::rotate(x->data(), 3, mistake); };
  const std::string read = line_of("const float next = x["), write = line_of("x[t] = next;");
  CHECK_THAT(hint(message(1, kernel)), ContainsSubstring(either_way(read, write)));
  CHECK_THAT(hint(message(2, kernel)),
             ContainsSubstring("missing after " + write + ", before " + read + " runs again"));
}

TEST_CASE_METHOD(Messages, "shared memory that is not yet written: another thread may, after a barrier") {
  const auto in = counting<float>(64), out = zeros<float>(64);
  const std::string told =
      message(1, [&](int mistake) { test_kernels::swap_neighbours(in->data(), out->data(), mistake); });
  const std::string read = line_of("out[t] = pair[t ^ 1];");
  CHECK_THAT(told,
             ContainsSubstring("reads pair[1], which nothing in this block has written yet, at " + read));
  CHECK_THAT(told, ContainsSubstring("is a __syncthreads() missing before " + read + "?"));
}

TEST_CASE_METHOD(Messages, "an index outside an array is out of bounds of that array, however far") {
  DeviceArray<float> first(*backend, 1000, "first"), second(*backend, 1000, "second");
  const auto out = zeros<float>(1);
  backend->fill(first.data(), 0, 4000);
  backend->fill(second.data(), 0, 4000);
  const long long offsets[] = {1, 1000, 100'000, 1 << 20, 1 << 30, (1ll << 32) - 1};
  for (const DeviceArray<float>* array : {&first, &second}) {
    const std::string name = array == &first ? "first" : "second";
    for (const long long offset : offsets)
      for (const long long index : {-offset, 999 + offset}) {
        // Other tests of this process may have released an array that was just there.
        if (cpu::memory().released_at(reinterpret_cast<std::uintptr_t>(array->data()) +
                                      static_cast<std::uintptr_t>(4 * index)))
          continue;
        const std::string told =
            finding_of(*backend, [&] { test_kernels::read_at(array->data(), out->data(), index); });
        CHECK_THAT(told, ContainsSubstring("out of bounds: kernel read_at"));
        CHECK_THAT(told, ContainsSubstring("thread (0,0,0) of block (0,0,0) reads " + name + "[" +
                                           std::to_string(index) + "] at " + line_of("out[0] = in[index];")));
      }
  }
  CHECK(finding_of(*backend, [&] { test_kernels::read_at(first.data(), out->data(), 999); }) == "");
}

TEST_CASE_METHOD(Messages, "an array of one element has one element") {
  const auto one = counting<float>(1, "x"), out = zeros<float>(4);
  const std::string message =
      finding_of(*backend, [&] { test_kernels::read_at(one->data(), out->data(), 1); });
  CHECK_THAT(message, ContainsSubstring("reads x[1] at "));
  CHECK_THAT(message, ContainsSubstring("\n  x has 1 element of 4 bytes: x[0]\n"));
}

TEST_CASE("a file's name in messages has no ..") {
  CHECK(cpu::tidy_name("chapters/05/../06/x.hpp") == "chapters/06/x.hpp");
  CHECK(cpu::tidy_name("../common/x.hpp") == "common/x.hpp");
  CHECK(cpu::tidy_name("../../common/x.hpp") == "common/x.hpp");
  CHECK(cpu::tidy_name("/tmp/a/../my kernel.cu") == "/tmp/my kernel.cu");
  CHECK(cpu::tidy_name("..x.cu") == "..x.cu");
  CHECK(cpu::tidy_name("").empty());
}

TEST_CASE_METHOD(Messages, "an address outside shared memory is out of bounds of it") {
  const auto out = zeros<float>(4);
  const auto dynamic = [&](long long index) {
    return finding_of(*backend, [&] { test_kernels::write_dynamic_shared_at(out->data(), index); });
  };
  CHECK_THAT(dynamic(-1),
             ContainsSubstring("out of bounds of shared memory: kernel write_dynamic_shared_at"));
  CHECK_THAT(dynamic(-1), ContainsSubstring("writes 4 bytes before dynamic shared memory at line"));
  CHECK_THAT(dynamic(-10'000), ContainsSubstring("writes 40000 bytes before dynamic shared memory at line"));
  CHECK_THAT(dynamic(32), ContainsSubstring("writes bytes 128 to 131 of dynamic shared memory at line"));
  CHECK_THAT(dynamic(100'000),
             ContainsSubstring("writes bytes 400000 to 400003 of dynamic shared memory at line"));
  CHECK(dynamic(31) == "");
  const auto& statics = cpu::device().shared_memory.statics();
  const auto* const arrays = reinterpret_cast<const float*>(statics.begin);
  const auto around_statics = [&](long long index) {
    return finding_of(*backend, [&] { test_kernels::read_at(arrays, out->data(), index); });
  };
  const auto count = static_cast<long long>(statics.size / sizeof(float));
  CHECK_THAT(around_statics(-1), ContainsSubstring("reads 4 bytes before the __shared__ arrays at line"));
  CHECK_THAT(around_statics(-1000), ContainsSubstring("reads 4000 bytes before the __shared__ arrays at"));
  CHECK_THAT(around_statics(count + 10), ContainsSubstring("bytes past the __shared__ arrays at line"));
  const auto vector = [&](int bytes) {
    return finding_of(*backend, [&] { test_kernels::read_last_vector(out->data(), bytes); });
  };
  CHECK(vector(32) == "");
  CHECK_THAT(vector(20), ContainsSubstring("reads bytes 16 to 31 of dynamic shared memory at line"));
}

TEST_CASE_METHOD(Messages, "a thread cannot reach another thread's local variables") {
  const auto out = zeros<float>(32);
  CHECK_THAT(message(1, [&](int mistake) { test_kernels::exchange_locals(out->data(), mistake); }),
             ContainsSubstring("another thread's local variable"));
  // The stacks of other threads, then addresses outside of all: neither device arrays nor too many local
  // variables.
  for (const long long index : {17'408ll, 100'000ll, -100'000ll, -(1ll << 30), 1ll << 28, 1ll << 30}) {
    INFO(index);
    const std::string told = finding_of(*backend, [&] { test_kernels::read_local_at(out->data(), index); });
    CHECK_THAT(told, ContainsSubstring(": kernel read_local_at"));
    CHECK_THAT(told, ContainsSubstring("reads address 0x"));
    CHECK_THAT(told, ContainsSubstring("where there is no array, at " + line_of("out[0] = p[index];")));
  }
  CHECK(finding_of(*backend, [&] { test_kernels::read_local_at(out->data(), 31); }) == "");
}

TEST_CASE_METHOD(Messages, "the line of a kernel is that of its name") {
  const auto in = counting<float>(32), out = zeros<float>(32);
  const std::pair<std::string, std::string> kernels[test_kernels::kDeclarations] = {
      {"on_one_line", "void on_one_line("},
      {"type_before", "type_before("},
      {"of_types", "of_types("},
      {"on_three_lines", "void on_three_lines("},
      {"bounded", "bounded("},
      {"on_next_lines", "    on_next_lines"}};
  for (int which = 0; which < test_kernels::kDeclarations; ++which) {
    const auto& [name, code] = kernels[which];
    CHECK_THAT(finding_of(*backend, [&, w = which] { test_kernels::declared(w, in->data(), out->data()); }),
               ContainsSubstring("out of bounds: kernel " + name +
                                 " (tests/kernels/messages.cu:" + std::to_string(line_number(code)) + ")"));
  }
}

TEST_CASE_METHOD(Messages, "a launch that was stopped leaves no counts behind") {
  const int n = 8 * 256;
  const auto in = counting<float>(n), out = zeros<float>(n);
  const auto copy = [&](int mistake) {
    test_kernels::copy_blocks_checked(in->data(), out->data(), n, mistake);
  };
  const workbook::Counts alone = backend->run([&] { copy(0); });
  // Also those of the launches before it in the same run.
  CHECK_THAT(finding_of(*backend, [&] { copy(0), copy(1); }), ContainsSubstring("out of bounds"));
  CHECK(cpu::device().counts.kernels == 0);
  CHECK(cpu::device().counts.load_sectors == 0);
  CHECK(cpu::device().counts.accesses == 0);
  CHECK(backend->run([&] { copy(0); }).load_sectors == alone.load_sectors);
}

TEST_CASE_METHOD(Messages, "host code that goes on after a finding sees the counts of complete launches") {
  const int n = 8 * 256;
  const auto in = counting<float>(n), out = zeros<float>(n);
  std::vector<workbook::LaunchCounts> launches;
  const auto tracing = workbook::make_cpu_backend(
      [&](const workbook::LaunchCounts& one) {
        if (!one.ended_early) launches.push_back(one);
      },
      workbook::Detail::kInstructions);
  const auto copy = [&](int mistake) {
    test_kernels::copy_blocks_checked(in->data(), out->data(), n, mistake);
  };
  tracing->run([&] { copy(0); });
  tracing->run([&] {
    CHECK_THROWS_AS(copy(1), cpu::Finding);
    copy(0);
  });
  CHECK_THAT(finding_of(*tracing, [&] { copy(1); }), ContainsSubstring("out of bounds"));
  tracing->run([&] { copy(0); });
  REQUIRE(launches.size() == 3);
  for (const workbook::LaunchCounts& one : launches) {
    CHECK(one.counts.kernels == 1);
    CHECK(one.counts.load_sectors == n / 8);
    CHECK(one.counts.accesses == 2 * n);
    CHECK(one.requests.size() == 2);
  }
}

TEST_CASE_METHOD(Messages, "a message is plain lines; shown, they are wrapped to the width") {
  const auto in = counting<float>(256), out = zeros<float>(64);
  const std::string told =
      message(2, [&](int mistake) { test_kernels::tiled_sum(in->data(), out->data(), 4, mistake); });
  hint(told);  // is one line
  const auto words_of = [](const std::string& t) {
    std::istringstream stream(t);
    std::vector<std::string> words;
    for (std::string word; stream >> word;) words.push_back(word);
    return words;
  };
  CHECK(std::count(told.begin(), told.end(), '\n') ==
        4);  // the kernel, two accesses, what is missing, the hint
  for (const std::size_t width : {39u, 79u, 119u}) {
    std::istringstream shown(workbook::indented(told, 2, width));
    CHECK(words_of(shown.str()) == words_of(told));
    std::string line;
    std::getline(shown, line);
    CHECK_THAT(line, ContainsSubstring("  race in shared memory:"));
    std::size_t lines = 1, continued = 0;
    for (; std::getline(shown, line); ++lines) {
      CHECK(line.size() <= width);
      continued += line.find_first_not_of(' ') == 4;
    }
    CHECK(continued >= 3);  // a line is continued where its own text begins
    CHECK(lines > 4);
  }
}

}  // namespace test_messages
