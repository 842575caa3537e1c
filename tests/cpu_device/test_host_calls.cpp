// Kernels that crash or call what is the host's, and host code that uses what is the kernels'.
#include <climits>

#include "catch.hpp"
#include "kernels/host_calls.hpp"
#include "tests/cpu_device/findings.hpp"
#include "tests/cpu_device/kernel_lines.hpp"
#include "tests/cpu_device/on_cores.hpp"

namespace test_host_calls {
namespace {

namespace test_kernels = cpu::test_kernels;
using test_kernels::HostCall;
using test_kernels::HostCrash;
using test_kernels::KernelCall;

std::string line_of(const std::string& code) {
  return "line " + std::to_string(kernel_line("host_calls.cu", code));
}

struct HostCalls : Findings {
  /// What thread 20 is told for that call; the same kernel without it must be right before and afterwards.
  std::string told(HostCall call) {
    const auto out = zeros<int>(32), threads = counting<int>(32);
    const auto is_right = [&] {
      backend->run([&] { test_kernels::call_host(out->data(), HostCall::kNone); });
      return out->values() == threads->values();
    };
    CHECK(is_right());
    const std::string message =
        finding([&](bool right) { test_kernels::call_host(out->data(), right ? HostCall::kNone : call); });
    CHECK(is_right());
    return message;
  }
};

}  // namespace

TEST_CASE_METHOD(HostCalls, "finding: a division by zero, with / and with %") {
  const auto out = zeros<int>(64);
  const auto told = [&](int dividend, std::size_t thread, int divisor) {
    std::vector<int> divisors(64, 3);
    const auto in = zeros<int>(64), right_in = zeros<int>(64);
    backend->upload(right_in->data(), divisors.data(), 64 * sizeof(int));
    divisors[thread] = divisor;
    backend->upload(in->data(), divisors.data(), 64 * sizeof(int));
    return finding(
        [&](bool right) { test_kernels::quotients(dividend, (right ? right_in : in)->data(), out->data()); });
  };
  const std::string quotient = line_of("out[t] = dividend / in[t];"),
                    remainder = line_of("out[t] = dividend % in[t];");
  CHECK_THAT(told(7, 20, 0),
             ContainsSubstring("division by zero: kernel quotients (tests/kernels/host_calls.cu:"));
  CHECK_THAT(told(7, 20, 0),
             ContainsSubstring("thread (20,0,0) of block (0,0,0) divides an integer by zero, with / "
                               "or %, at " +
                               quotient + "\n"));
  CHECK_THAT(told(7, 50, 0), ContainsSubstring("thread (50,0,0) of block (0,0,0) divides"));
  CHECK_THAT(told(7, 50, 0), ContainsSubstring("at " + remainder + "\n"));
#ifdef __x86_64__  // on other processors it is some number
  CHECK_THAT(told(INT_MIN, 20, -1), ContainsSubstring("crash in a kernel: kernel quotients"));
  CHECK_THAT(told(INT_MIN, 20, -1),
             ContainsSubstring("thread (20,0,0) of block (0,0,0) crashes (Floating point "
                               "exception), in quotients() at " +
                               quotient + "\n"));
#endif
}

TEST_CASE_METHOD(HostCalls, "finding: a division by zero of which the compiler makes no division") {
  std::vector<int> divisors(64, 1);
  const auto in = zeros<int>(64), right_in = zeros<int>(64), out = zeros<int>(64);
  backend->upload(right_in->data(), divisors.data(), 64 * sizeof(int));
  divisors[9] = 0;
  backend->upload(in->data(), divisors.data(), 64 * sizeof(int));
  const std::string told =
      finding([&](bool right) { test_kernels::inverses((right ? right_in : in)->data(), out->data()); });
  CHECK_THAT(told, ContainsSubstring("thread (9,0,0) of block (0,0,0) divides an integer by zero"));
  CHECK_THAT(told, ContainsSubstring("at " + line_of("out[t] = 1 / in[t];") + "\n"));
}

TEST_CASE_METHOD(HostCalls,
                 "finding: a kernel ends the program, throws, launches, or uses an atomic of C++") {
  const std::tuple<HostCall, std::string, std::string> calls[] = {
      {HostCall::kAbort, "calls abort()", "kAbort) abort();"},
      {HostCall::kOtherAbort, "calls abort()", "abort();  // the other one"},
      {HostCall::kExit, "calls exit()", "kExit) exit(1);"},
      {HostCall::kOtherExit, "calls exit()", "exit(1);  // the other one"},
      {HostCall::kStandardExit, "calls exit()", "::exit(1);"},
      {HostCall::kExitAtOnce, "calls _Exit()", "_Exit(1);"},
      {HostCall::kQuickExit, "calls quick_exit()", "quick_exit(1);"},
      {HostCall::kTerminate, "calls std::terminate()", "std::terminate();"},
      {HostCall::kThrow, "throws an exception", "throw t;"},
      {HostCall::kAtomic, "uses an atomic of C++", "__atomic_fetch_add(out, 1, __ATOMIC_SEQ_CST);"},
      {HostCall::kStatic, "uses an atomic of C++", "static int value = t;"},
      {HostCall::kLaunch, "launches a kernel", "launch(other, 1, 32, out);"},
  };
  for (const auto& [call, does, code] : calls) {
    const std::string message = told(call);
    CHECK_THAT(message, ContainsSubstring(
                            "host function in a kernel: kernel call_host (tests/kernels/host_calls.cu:"));
    CHECK_THAT(message,
               ContainsSubstring("thread (20,0,0) of block (0,0,0) " + does + " at " + line_of(code) + "\n"));
  }
}

TEST_CASE_METHOD(HostCalls, "finding: a kernel crashes") {
  const std::pair<HostCall, std::string> calls[] = {
      {HostCall::kTrapInstruction, "kTrapInstruction) __builtin_trap();"},
      {HostCall::kNullFunction, "      function();"},
  };
  for (const auto& [call, code] : calls) {
    const std::string message = told(call);
    CHECK_THAT(message,
               ContainsSubstring("crash in a kernel: kernel call_host (tests/kernels/host_calls.cu:"));
    CHECK_THAT(message, ContainsSubstring("thread (20,0,0) of block (0,0,0) crashes ("));
    CHECK_THAT(message, ContainsSubstring("in call_host() at " + line_of(code) + "\n"));
  }
}

TEST_CASE_METHOD(HostCalls,
                 "a crash in one of several cores' blocks is found, and the launch after it is right") {
  constexpr int kBlocks = 64;
  const OnCores use(4);
  const auto x = zeros<int>(64 * kBlocks);
  const std::string message =
      finding([&](bool right) { test_kernels::crash_in_last_block(x->data(), kBlocks, !right); });
  CHECK_THAT(message, ContainsSubstring("crash in a kernel: kernel crash_in_last_block"));
  CHECK_THAT(message, ContainsSubstring("thread (7,0,0) of block (63,0,0) crashes"));
  CHECK(use.thrown_away() == 1);
  backend->fill(x->data(), 0, 64 * kBlocks * sizeof(int));
  backend->run([&] { test_kernels::crash_in_last_block(x->data(), kBlocks, false); });
  CHECK(x->values() == std::vector<int>(64 * kBlocks, 1));
}

TEST_CASE_METHOD(HostCalls, "finding: host code crashes") {
  const std::tuple<HostCrash, std::string, std::string> crashes[] = {
      {HostCrash::kNull, "Segmentation fault", "*nowhere = 1;"},
      {HostCrash::kAbort, "Aborted", "kAbort) abort();  // on the host"},
      {HostCrash::kTrap, "Illegal instruction", "kTrap) __builtin_trap();"},
  };
  for (const auto& [crash, signal, code] : crashes) {
    const std::string message = finding(
        [&, wrong = crash](bool right) { test_kernels::crash_on_host(right ? HostCrash::kNone : wrong); });
    CHECK_THAT(message, ContainsSubstring("crash in host code: crash_on_host (tests/kernels/host_calls.cu:"));
    CHECK_THAT(message, ContainsSubstring("host code crashes (" + signal + ") at " + line_of(code) + "\n"));
  }
  const std::string message = finding(
      [&](bool right) { test_kernels::crash_on_host(right ? HostCrash::kNone : HostCrash::kRecursion); });
  CHECK_THAT(message, ContainsSubstring("crash in host code: descend (tests/kernels/host_calls.cu:"));
  CHECK_THAT(message, ContainsSubstring("descend() calls itself, here "));
}

TEST_CASE_METHOD(HostCalls, "finding: host code uses what only a kernel has") {
  const std::tuple<KernelCall, std::string, std::string> calls[] = {
      {KernelCall::kBarrier, "__syncthreads() or one of its votes", "__syncthreads();"},
      {KernelCall::kVote, "__syncthreads() or one of its votes", "return __syncthreads_count(1);"},
      {KernelCall::kSyncWarp, "__syncwarp()", "__syncwarp();"},
      {KernelCall::kShuffle, "a shuffle", "return __shfl_xor_sync(0xffffffffu, 1, 1);"},
      {KernelCall::kBallot, "a vote of a warp", "return __any_sync(0xffffffffu, 1);"},
      {KernelCall::kActiveMask, "__activemask()", "return static_cast<int>(__activemask());"},
      {KernelCall::kFence, "__threadfence()", "__threadfence();"},
      {KernelCall::kThreadIndex, "threadIdx", "return static_cast<int>(threadIdx.x);"},
      {KernelCall::kTrap, "__trap()", "      __trap();"},
      {KernelCall::kDynamicShared, "dynamic_shared()", "return dynamic_shared<int>() == nullptr;"},
      {KernelCall::kCopy, "__pipeline_memcpy_async()", "__pipeline_memcpy_async(shared, x, 16);"},
      {KernelCall::kCommit, "__pipeline_commit()", "__pipeline_commit();"},
      {KernelCall::kFragment, "an operation of nvcuda::wmma",
       "load_matrix_sync(sums, shared, 16, nvcuda::wmma::mem_row_major);"},
  };
  for (const auto& [call, what, code] : calls) {
    const std::string message = finding([&, wrong = call](bool right) {  // clang 14 captures no binding
      if (!right) test_kernels::call_device(wrong);
    });
    CHECK_THAT(message,
               ContainsSubstring("kernel function on the host: call_device (tests/kernels/host_calls.cu:"));
    CHECK_THAT(message, ContainsSubstring("host code uses " + what + " at " + line_of(code) + "\n"));
  }
}

}  // namespace test_host_calls
