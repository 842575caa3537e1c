// The translation of CUDA files: what becomes of each part, and what is refused.
#include <map>
#include <string>

#include "catch.hpp"
#include "paths.hpp"
#include "play/translation/translate.hpp"
#include "system/errors.hpp"
#include "system/files.hpp"

namespace test_translate {
using namespace workbook;

namespace {

const std::string kMarker = "# 1 \"mine.cu\"\n";

std::string of(const std::string& source, const std::map<std::string, std::string>& values = {}) {
  Constants constants(values);
  const std::string text = translated(kMarker + source, constants).substr(kMarker.size());
  constants.require_all_used();
  return text;
}
bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("translate: a launch calls the kernel's starter, however it is written") {
  const std::string kernel = "template <class T, int N> __global__ void k(T* x, const T* y = nullptr) { }\n";
  const std::string starter = of(kernel);
  INFO(starter);
  CHECK(has(starter,
            "template <class T, int N> static inline void program_start_k("
            "::program::Configuration program_configuration, T * x, const T * y = nullptr)"));
  CHECK(has(starter, "::program::start(program_configuration, k<T, N>, x, y)"));
  CHECK(has(of("__global__ void k(half2 const* const a, size_t const n, const int, ns::Box, float*) {}"),
            "k, a, n, program_argument2, program_argument3, program_argument4)"));
  CHECK(has(of(kernel + "void f() { k<float, (3 > 2)><<<g(1, 2), 3>>>(a, b); }"),
            "program_start_k<float, (3 > 2)>(::program::Configuration(g(1, 2), 3),a, b);"));
  CHECK(has(of(kernel + "void f() { (k<int, 1>)<<<1, 2, 0, s>>>(); }"),
            "program_start_k<int, 1>(::program::Configuration(1, 2, 0, s));"));
  CHECK(has(of("namespace n { __global__ void k(int); }\nvoid f() { n::k<<<1, 2>>>(3); }"),
            "n::program_start_k(::program::Configuration(1, 2),3);"));
  CHECK(has(of("namespace n { __global__ void k(int); }\nvoid* f = (void *)n::k, *g = (void*)main;"),
            "(::program::KernelAddress )n::k, *g = (void*)main;"));
  CHECK(has(of("void f() { table[1]<<<1, 2>>>(3); }"),
            "(::program::by_pointer(table[1], ::program::Configuration(1, 2))(3));"));
}

TEST_CASE("translate: words change where they are CUDA's") {
  CHECK(has(of("__global__ void k() { int i = threadIdx.x; }"), "int i = ::cpu::thread_index().x;"));
  CHECK(has(of("int main() { dim3 blockDim(32); f(blockDim.x << 2 >> 1); }"),
            "int main() { dim3 blockDim(32); f(blockDim.x << 2 >> 1); }"));
  CHECK(has(of("void f() { g([=] __device__(int i) { return gridDim.x; }); h(gridDim); }"),
            "return ::cpu::grid_extent().x; }); h(gridDim);"));
  CHECK(has(of("__global__ void k() { extern __shared__ float4 s[]; }"),
            "float4* const s = (float4*)::cpu::dynamic_shared_memory()"));
  CHECK(has(of("__device__ int count = 5;"), "section(\"program_device\")"));
  CHECK(has(of("__device__ int a, b[2][3];"), "::program::Variable program_variable_b(\"b\", b);"));
  CHECK(has(of("__constant__ float table[8];"), "section(\"program_constant\")"));
  CHECK(!has(of("__device__ const float table[2] = {1, 2};"), "section"));
  CHECK(!has(of("auto f = [] __device__(float x) { return x; };"), "section"));
  CHECK(has(of("void f() { cudaMalloc((void**)&model->x, n * 4); }"),
            "cudaMalloc(&model->x, n * 4, \"model->x\")"));
  CHECK(has(of("int main() { int B = 8, T = 4; }", {{"T", "2"}}), "int B = 8, T = 2;"));
  const std::string system = "# 1 \"/usr/include/x.h\" 3\nint threadIdx; __device__ int x;\n";
  Constants none({});
  CHECK(translated(system, none) == system);
}

TEST_CASE("translate: inline PTX becomes a function of its operands") {
  const auto in_kernel = [](const std::string& statement) {
    return of("__global__ void k(unsigned x) { " + statement + " }");
  };
  CHECK(
      has(in_kernel("asm(\"mov.u32 %0, %%laneid;\" : \"=r\"(x));"),
          "[&](auto&& o0) __attribute__((always_inline)) { { ::program::ptx::put(o0, ::cpu::lane_index()); } "
          "}(  (x));"));
  CHECK(has(in_kernel("asm volatile(\"fence.acq_rel.gpu;\" ::: \"memory\");"),
            "{ { ::cpu::__threadfence(); } }"));
  CHECK(has(in_kernel("asm volatile(\"ld.global.nc.v2.f32 {%0, %1}, [%2+8];\" : \"=f\"(a), \"=f\"(b)\n : "
                      "\"l\"(p + threadIdx.x));"),
            "::program::ptx::load<float>(::program::ptx::generic(o2, static_cast<long long>(8)), o0, o1)"));
  CHECK(has(in_kernel("asm(\"{ .reg .pred p;\\n setp.ne.b32 p, %0, 0;\\n @!p trap; }\" :: \"r\"(x));"),
            "bool of_p{};"));
  CHECK(has(of("void f() { asm(\"rdtsc\" : \"=a\"(x)); }"), "asm(\"rdtsc\" : \"=a\"(x))"));
  for (const char* other :
       {"mov.u32 %0, %%envreg1", "bar.sync 1", "ld.global.f32 %1, [%0]", "ld.global.f32 %0, %0",
        "add.u32 %0, %0", "mma.sync.aligned.m16n8k32.row.col.f32.bf16.bf16.f32 {%0}, {%0}, {%0}, {%0}",
        "@q trap", "cp.async.cg.shared.global.L2::cache_hint [%0], [%0], 16, %0", "frobnicate.f32 %0"})
    CHECK(has(in_kernel("asm(\"" + std::string(other) + ";\" : \"=r\"(x));"),
              "::program::refuse(\"inline PTX: " + std::string(other).substr(0, 60) + "\", \"mine.cu\", 1)"));
}

TEST_CASE("translate: lines stay where they were, and strings and comments as they are") {
  const std::string source =
      "__global__\nvoid k(int* x) {\n  *x = 1;\n}\nconst char* s = R\"(k<<<1,\n2>>>())\";\nvoid f() {\n  k\n "
      " <<<1,\n  2>>>(\n  p);\n}\n";
  const std::string result = of(source);
  CHECK(std::count(result.begin(), result.end(), '\n') == std::count(source.begin(), source.end(), '\n'));
  CHECK(has(result, "R\"(k<<<1,\n2>>>())\""));
}

TEST_CASE("translate: what is not understood is refused with its line") {
  const auto said = [](const std::string& source) -> std::string {
    try {
      return of(source);
    } catch (const UsageError& error) {
      return error.what();
    }
  };
  CHECK(said("\n\nvoid f() { k<<<1, 2; }") == "mine.cu:3: error: <<< without >>>");
  CHECK(said("\nvoid f() { k<<<1, 2>>>; }") == "mine.cu:2: error: no ( behind >>>");
  CHECK(has(said("__global__ void k() { extern __shared__ int s; }"),
            "mine.cu:1: error: extern __shared__ needs an array"));
  CHECK_THROWS_AS(of("int main() {}", {{"B", "1"}}), UsageError);
}

TEST_CASE("translate: a file that ends anywhere is translated or refused") {
  const std::string whole = file_text(source_dir() + "/tests/data/programs/features.cu");
  int refused = 0;
  for (std::size_t end = 0; end < whole.size(); end += 13) {
    try {
      of(whole.substr(0, end));
    } catch (const UsageError&) {
      ++refused;
    }
  }
  CHECK(refused > 0);
}

}  // namespace test_translate
