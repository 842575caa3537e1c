#include "advice.hpp"

#include <sys/resource.h>

#include <algorithm>
#include <cstddef>
#include <regex>

#include "system/memory_limit.hpp"
#include "system/terminal.hpp"
#include "workbook.hpp"

namespace workbook {
namespace {

/// A mistake: its pattern, which one line of the compiler's output has, and what to write instead. g++ and
/// clang say it differently.
constexpr const char* kOutOfMemory =
    "out of memory allocating|virtual memory exhausted|std::bad_alloc|Cannot allocate memory";

struct Frequent {
  const char* pattern;
  const char* advice;
  const char* in_program = nullptr;  ///< where that is something else
};
const Frequent kFrequent[] = {
    {R"(\w\s*(<[^<>\n]*>)?\s*<<<)",
     "A kernel is started with launch(kernel, grid, block, arguments...), which stands for kernel<<<grid, "
     "block>>>(arguments...). With dynamic shared memory it is launch_shared(kernel, grid, block, bytes, "
     "arguments...).",
     "In a message, program_start_KERNEL(...) is the launch KERNEL<<<...>>>(...): what follows the "
     "configuration has to be the kernel's arguments."},
    {R"(extern\s+__shared__)",
     "Dynamic shared memory is float* s = dynamic_shared<float>(); here, and launch_shared(kernel, grid, "
     "block, bytes, arguments...) says how large it is."},
    {R"((?:'|‘)cuda[A-Z]\w*(?:'|’) was not declared|undeclared identifier 'cuda[A-Z]\w*')",
     "The CUDA runtime's functions (cudaMalloc, cudaMemcpy, cudaDeviceSynchronize, ...) are not there in a "
     "kernel file: the workbook allocates the arrays, copies them and waits for the kernels.",
     "The CPU device does not have this function of the CUDA runtime: docs/any_file.md says what is there."},
    {R"(is not a member of (?:'|‘)std(?:'|’)|in namespace 'std')",
     "In a kernel, CUDA has its own functions without std::, such as min, max, fmaxf, sqrtf and expf."},
    {R"(call of overloaded (?:'|‘)(min|max)\(|call to '(min|max)' is ambiguous)",
     "min and max need two operands of one type, as under nvcc: write max(x, 0.0f), or cast one."},
    {R"((thrust|cub|cuda/std|cutlass|cute)/\S+(?:: No such file|' file not found)|CUB runs on a GPU alone)",
     "Libraries of kernels, such as Thrust, CUB and libcu++, are not there on the CPU device, where "
     "your own kernels run."},
    {R"(error: expected (?:'|‘)\}(?:'|’))",
     "A brace { is not closed, in this file or in one that it includes."},
    {kOutOfMemory,
     "The compiler ran out of memory, and was stopped: does the file include something that has no end, or "
     "does a template or a constexpr function expand without end?"},
};

struct Lack {
  const char *pattern, *what;
};
constexpr Lack kLacks[] = {
    {"No space left on device|Disk quota exceeded", "the disk is full"},
    {"Read-only file system", "the disk can only be read"},
    {"Too many open files", "it may open too few files (ulimit -n)"},
    {"File too large|File size limit exceeded", "its files may only be small (ulimit -f)"},
    {"Killed signal terminated program", "the system has killed the compiler: is there too little memory?"},
};

bool has(const std::string& errors, const char* pattern) {
  return std::regex_search(errors, std::regex(pattern));
}

/// Whether a compiler could not get the memory that it is allowed (kCompilerMemory).
bool memory_is_short() {
  rlimit space = {}, data = {};
  getrlimit(RLIMIT_AS, &space);
  getrlimit(RLIMIT_DATA, &data);
  return std::min<std::size_t>({space.rlim_cur, data.rlim_cur, available_memory()}) < kCompilerMemory;
}

}  // namespace

std::string lack_in(const std::string& errors) {
  for (const Lack& lack : kLacks)
    if (has(errors, lack.pattern)) return lack.what;
  if (has(errors, kOutOfMemory) && memory_is_short()) return "there is too little memory for the compiler";
  return "";
}

bool names_place(const std::string& errors) {
  if (!lack_in(errors).empty()) return false;
  return has(errors,
             R"((^|\n)error: |:\d+(:\d+)?: (fatal )?error: |undefined reference to |multiple definition of )") ||
         has(errors, kOutOfMemory);
}

std::string advice_on(const std::string& errors, bool in_program) {
  std::string advice;
  for (const Frequent& one : kFrequent)
    if (has(errors, one.pattern))
      advice += "\n" + wrapped(in_program && one.in_program ? one.in_program : one.advice, 0);
  return advice;
}

}  // namespace workbook
