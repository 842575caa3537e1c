"""./workbook play and view with CUDA files that have a main of their own.

python3 tests/play/check_programs.py COPY: the copy of the tree that tests/cli/check_launcher.py has made.
"""

import json
import os
import pathlib
import re
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from checks import expect, fresh_copy, missing, run

COPY = fresh_copy()

SAXPY = r"""#include <cstdio>
#include <cstdlib>
#include <vector>

__global__ void saxpy(int n, float a, const float* x, float* y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = a * x[i] + y[i];
}

int main(int argc, char** argv) {
  int N = 1000;
  const int n = argc > 1 ? atoi(argv[1]) : N;
  const size_t bytes = n * sizeof(float);
  std::vector<float> x(n, 1.0f), y(n, 2.0f);
  float *d_x, *d_y;
  cudaMalloc(&d_x, bytes);
  cudaMalloc((void**)&d_y, bytes);
  cudaMemcpy(d_x, x.data(), bytes, cudaMemcpyHostToDevice);
  cudaMemcpy(d_y, y.data(), bytes, cudaMemcpyHostToDevice);
  for (int i = 0; i < 3; ++i)
    saxpy<<<(n + 255) / 256, 256>>>(n, 2.0f, d_x, d_y);
  cudaMemcpy(y.data(), d_y, bytes, cudaMemcpyDeviceToHost);
  printf("y[%d] = %g\n", n - 1, y[n - 1]);
  cudaFree(d_x);
  cudaFree(d_y);
  return 0;
}
"""


def play(what, source, status, *texts, options=(), command="play", never=None, **environment):
    """Plays `source`, expects that exit status, those texts and not `never`, and returns standard output."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "mine.cu"
        path.write_text(source)
        (path.parent / "include").mkdir()
        (path.parent / "include" / "size.h").write_text("#define FROM_HEADER 77\n")
        (path.parent / "include" / "more.cu").write_text(MORE)
        (path.parent / "include" / "size.cpp").write_text("int size() { return 10; }\n")
        (path.parent / "include" / "main.cpp").write_text(MAIN)
        words = [str(each).replace("FOLDER", folder) for each in options]
        done = run(COPY / "workbook", command, path, *words, env={**os.environ, **environment})
    output = done.stdout + done.stderr
    lacking = missing(texts, output)
    expect(what, done.returncode == status and not lacking and not (never and never in output),
           f"exit status {done.returncode}, missing {lacking}, or {never} is there:\n{output}")
    return done.stdout


def changed(*edits):
    """SAXPY with each text of a pair replaced by the other."""
    source = SAXPY
    for old, new in edits:
        assert source.count(old) == 1, old
        source = source.replace(old, new)
    return source


MAIN = r"""#include <cstdio>
__global__ void kernel(int* x);
int main() {
  int *x, result;
  cudaMalloc(&x, 4);
  kernel<<<1, 1>>>(x);
  cudaMemcpy(&result, x, 4, cudaMemcpyDeviceToHost);
  printf("main %d\n", result);
}
"""
# A second file, with names that the first one has as well, and some that it needs.
MORE = r"""#include <cstdio>
#define T double
static int count = 5;
__constant__ float factor[2] = {3, 4};
__device__ int table[2] = {50, 60};
__device__ float scale(float x) { return factor[1] * x; }
static __global__ void show(float x) { printf("more.cu: %g %d\n", scale(x), count + table[1]); }
__global__ void twice(const int* x) { printf("twice %d\n", 2 * x[1]); }
extern "C" void show_more(float x) { show<<<1, 1>>>(x); }
"""
FIRST = r"""#include <cstdio>
static int count = 6;
typedef float T;
__constant__ T factor[2];
__device__ T scale(T x) { return factor[0] * x; }
static __global__ void show(T x) { printf("mine.cu: %g %d\n", scale(x), count); }
__global__ void twice(const int*);
extern __device__ int table[2];
__global__ void last() { printf("last %d at line %d\n", table[0], __LINE__); }
extern "C" void show_more(float);
int size();
int main() {
  T host[] = {0.5f, 1};
  cudaMemcpyToSymbol(factor, host, sizeof host);
  int N = 1, *x;
  cudaMallocManaged(&x, 8);
  x[1] = size() + N;
  show<<<1, 1>>>(10);
  show_more(10);
  twice<<<1, 1>>>(x);
  last<<<1, 1>>>();
  cudaDeviceSynchronize();
  cudaFree(x);
}
"""
INPUTS = r"""#include <cstdio>
__global__ void twice(const int* x, int* y) { y[threadIdx.x] = 2 * x[threadIdx.x]; }
__global__ void add(int* sum) { atomicAdd(sum, 1); }
int main() {
  int *x, *y, *sum, results[2];
  cudaMallocManaged(&x, 32 * sizeof(int));
  cudaMalloc(&y, 32 * sizeof(int));
  cudaMalloc(&sum, sizeof(int));
  cudaMemset(sum, 0, sizeof(int));
  for (int i = 0; i < 10; ++i) {
    x[0] = i / 5;
    twice<<<1, 32>>>(x, y);
    add<<<1, 32>>>(sum);
    cudaDeviceSynchronize();
  }
  cudaMemcpy(results, y, sizeof(int), cudaMemcpyDeviceToHost);
  cudaMemcpy(results + 1, sum, sizeof(int), cudaMemcpyDeviceToHost);
  printf("y %d, sum %d\n", results[0], results[1]);
}
"""
LAUNCH = "saxpy<<<(n + 255) / 256, 256>>>(n, 2.0f, d_x, d_y);"
BACK = "cudaMemcpy(y.data(), d_y, bytes, cudaMemcpyDeviceToHost);"

# --- What runs ---

for begin in ("/* what it does */ ", 'const char* name = "x"; ', "/* main( */ // main(\n"):
    play(f"a main after {begin.strip()}", SAXPY.replace("int main(", begin + "int main("), 0, "y[999] = 8")
play("launches with the same counts share a row", SAXPY, 0, "y[999] = 8",
     "saxpy 3 4 256 64 250 100% 32 125 100% 0", never="not freed")
play("arguments of main", SAXPY, 0, "y[63] = 8", "saxpy 3 1 256", options=["--", 64])
play("another value for a constant", SAXPY, 0, "y[31] = 8", options=["--set", "N=32"])
MACRO = changed(("#include <vector>",
                 '#include <vector>\n#include "include/size.h"\n#define SIZE (1.0e+3) // +'),
                ("N = 1000", "N = int(SIZE) + FROM_HEADER"),
                ("return 0", 'printf("%s:%d\\n", __FILE__, __LINE__)'))
play("... or a macro", MACRO, 0, "y[108] = 8", "mine.cu:28", options=["--set", "SIZE=32"])
play("... that is not there", SAXPY, 1,
     "--set M=32: no variable M starts with a number, and no source defines such a macro",
     options=["--set", "M=32"])
for value, text in (("99999999999999999999", "no integer type of C++ has that number"),
                    ("3000000000", "mine.cu:11: error: --set N=3000000000: the variable is a whole number "
                     "from -2147483648 to 2147483647"), ("2.5", "the variable is a whole number"),
                    ("x", "expected NAME=NUMBER")):
    play(f"... or is not {value}", SAXPY, 1 if ":" in text or "whole" in text else 2, text,
         options=["--set", f"N={value}"])
AGAIN = changed(("i < 3", "i < 50"), ("y[i] = a * x[i] + y[i];", "y[i] = a * x[i] + i;"))
play("a launch that changes nothing is not run again", AGAIN, 0, "y[999] = 1001", "saxpy 50 4 256",
     "49 of 50 launches were not run again")
TURNS = changed(("for (int i = 0; i < 3; ++i)", "for (int i = 0; i < 50; ++i) clear<<<1, 256>>>(d_y),"),
                ("int main", "__global__ void clear(float* y) { y[threadIdx.x] = 0; }\nint main"),
                ("N = 1000", "N = 256"))
play("launches that change the memory in turn are not run again", TURNS, 0, "y[255] = 2", "clear 50 1 256",
     "saxpy 50 1 256", "96 of 100 launches were not run again")
HEAP_TURNS = TURNS.replace("y[i] = a * x[i]", "{ float* volatile p = new float(a); y[i] = *p * x[i]").replace(
    "y[i];", "y[i]; delete p; }")
play("... but those that allocate memory are", HEAP_TURNS, 0, "y[255] = 2", "saxpy 50 1 256",
     "48 of 100 launches were not run again")
play("... and those whose input the host writes, or that read what they write", INPUTS, 0, "twice 10 1 32",
     "add 10 1 32", "y 2, sum 320", "8 of 20 launches were not run again")
play("an end after some launches", SAXPY, 0, "ended after 2 launches", "saxpy 2 4 256",
     options=["--launches", 2], never="y[999]")
HEADER = changed(("#include <vector>", "#include <vector>\n#include <size.h>\n#include <omp.h>"),
                 ("N = 1000", "N = FROM_HEADER + MORE - 1 + omp_get_num_threads()"))
TWO = ["--with", "FOLDER/include/more.cu", "--with", "FOLDER/include/size.cpp"]
play("several files, compiled apart", FIRST, 0, "mine.cu: 5 6", "more.cu: 40 65", "twice 26",
     "last 50 at line 9", options=[*TWO, "--set", "N=3"], never="not freed")
play("... of which one is missing", FIRST, 1, "undefined reference to", "size()", options=TWO[:2])
play("... two of which have a main", FIRST + "__global__ void kernel(int*) {}\n", 1,
     "multiple definition of `main'", options=["--with", "FOLDER/include/main.cpp"])
play("... of which another one has the main", "__global__ void kernel(int* x) { *x = 7; }\n", 0, "main 7",
     "kernel 1 1 0 0", options=["--with", "FOLDER/include/main.cpp"])
play("... one of which is not there", SAXPY, 2, "none.cu: it is not a file", options=["--with", "none.cu"])
play("headers and macros", HEADER, 0, "y[78] = 8", options=["-I", "FOLDER/include", "-D", "MORE=2"])
report = json.loads(play("JSON, and the program's output apart", SAXPY, 0, options=["--json"]))
launch, = report["launches"]
expect("... with the number of launches", launch["times"] == 3 and launch["load_sectors"] == 250, report)
play("a page", SAXPY, 0, "y[999] = 8", "view_mine.cu.html", command="view", options=["--out", "FOLDER"])
features = (COPY / "tests/data/programs/features.cu").read_text()
play("many ways to write a program", features, 0, "anonymous 128", "kernel prints 7", "x 186 191 129",
     "y 0.25 counter 71 managed 42", "groups 8 8", "unrolled 3", "managed 32", "caught features",
     "132 multiprocessors, 0 ms", "apply<{lambda(float)#1}>", "deep<float, 2>", never="not freed")
groups = (COPY / "tests/data/programs/groups.cu").read_text()
play("groups of threads and asynchronous copies", groups, 0, "sums 0", "labels 0", "barrier 0", "pipeline 0",
     "part of a warp 0", "interval 0", "inline PTX 0", "large tile 0", "callbacks 0", never="not freed")
ptx = (COPY / "tests/data/programs/ptx.cu").read_text()
play("inline PTX", ptx, 0, "bfloat16 0", "halves 0", "TF32 0", "bytes 0", "hand-over 0", "arithmetic 0",
     never="not freed")
play("an address that is not in shared memory", ptx.replace("&a_tile[row][column]", "a"), 1,
     "not shared memory: kernel by_bfloat16", "asks where device[0] is in shared memory")
runtime = (COPY / "tests/data/programs/runtime.cu").read_text()
play("parts of the runtime", runtime, 0, "large parameter 0", "captured graph 0",
     "graph of nodes 0", "host memory 0", "pools 0", "memory of graphs 0", "heap 0",
     "2 22 1 32", never="not freed")
CONDITIONS = r"""#include <cstdio>
__global__ void count(int* x, cudaGraphConditionalHandle more) { cudaGraphSetConditional(more, --*x > 0); }
__global__ void choose(int* x, cudaGraphConditionalHandle which, int value) {
  *x += 100;
  cudaGraphSetConditional(which, value);
}
__global__ void add(int* x, int value) { *x += value; }
__global__ void add_once(int* x, cudaGraphConditionalHandle more) {
  *x += 10;
  cudaGraphSetConditional(more, 0);
}
cudaGraphNode_t node(cudaGraph_t graph, cudaGraphNode_t* before, cudaGraphNodeParams& params) {
  cudaGraphNode_t added;
  cudaGraphAddNode(&added, graph, before, nullptr, before ? 1 : 0, &params);
  return added;
}
int main() {
  int *x, result, value = 2, addends[] = {1000, 2000, 3000};
  cudaMalloc(&x, sizeof(int));
  cudaStream_t stream;
  cudaStreamCreate(&stream);
  cudaGraph_t graph;
  cudaGraphCreate(&graph, 0);
  cudaGraphConditionalHandle more, which;
  cudaGraphConditionalHandleCreate(&more, graph, 1, cudaGraphCondAssignDefault);
  cudaGraphConditionalHandleCreate(&which, graph);

  cudaGraphNodeParams loop = {cudaGraphNodeTypeConditional};  // until x is 0
  loop.conditional = {more, cudaGraphCondTypeWhile, 1};
  cudaGraphNode_t last = node(graph, nullptr, loop);
  const cudaGraph_t body = loop.conditional.phGraph_out[0];
  cudaGraphConditionalHandle more_inside;  // once in each launch
  cudaGraphConditionalHandleCreate(&more_inside, body, 1, cudaGraphCondAssignDefault);
  cudaGraphNodeParams inside = {cudaGraphNodeTypeConditional};
  inside.conditional = {more_inside, cudaGraphCondTypeWhile, 1};
  const cudaGraphNode_t first = node(body, nullptr, inside);
  cudaStreamBeginCaptureToGraph(stream, inside.conditional.phGraph_out[0], nullptr, nullptr, 0,
                                cudaStreamCaptureModeGlobal);
  add_once<<<1, 1, 0, stream>>>(x, more_inside);
  cudaStreamEndCapture(stream, nullptr);
  cudaStreamBeginCaptureToGraph(stream, body, &first, nullptr, 1, cudaStreamCaptureModeGlobal);
  count<<<1, 1, 0, stream>>>(x, more);
  cudaStreamEndCapture(stream, nullptr);

  void* arguments[] = {&x, &which, &value};
  cudaGraphNodeParams kernel = {cudaGraphNodeTypeKernel};
  kernel.kernel.func = (void*)choose;
  kernel.kernel.gridDim = kernel.kernel.blockDim = dim3(1);
  kernel.kernel.kernelParams = arguments;
  last = node(graph, &last, kernel);
  cudaGraphNodeParams branch = {cudaGraphNodeTypeConditional};
  branch.conditional = {which, cudaGraphCondTypeSwitch, 3};
  node(graph, &last, branch);
  kernel.kernel.func = (void*)add;
  for (int i = 0; i < 3; ++i) {
    arguments[1] = &addends[i];
    node(branch.conditional.phGraph_out[i], nullptr, kernel);
  }

  cudaGraphExec_t exec;
  cudaGraphInstantiate(&exec, graph, 0);
  for (int i = 0; i < 2; ++i) {
    cudaMemset(x, i ? 3 : 7, 1);
    cudaMemset((char*)x + 1, 0, 3);
    cudaGraphLaunch(exec, stream);
    cudaMemcpy(&result, x, sizeof(int), cudaMemcpyDeviceToHost);
    printf("result %d\n", result);
  }
}
"""
play("conditional nodes of graphs", CONDITIONS, 0, "result 3100\nresult 3100", "count 30 1 1",
     "add_once 2 1 1", "add 2 1 1")
play("a conditional node with too many graphs",
     CONDITIONS.replace("{more, cudaGraphCondTypeWhile, 1", "{more, cudaGraphCondTypeWhile, 2"), 1,
     "wrong size of a conditional node:", "mine.cu:14", "a conditional node with 2 graphs")
play("a node of a kind that is not there", CONDITIONS.replace("{cudaGraphNodeTypeConditional};  // until",
                                                              "{cudaGraphNodeTypeEventRecord};  // until"),
     1, "not supported:", "mine.cu:14", "cudaGraphAddNode gets a node of type 7")
MEMORY_NODES = r"""#include <cstdio>
int main() {
  cudaGraph_t graph;
  cudaGraphExec_t exec;
  cudaGraphNode_t allocate, fill, release;
  cudaGraphNodeParams p = {cudaGraphNodeTypeMemAlloc};
  p.alloc.poolProps.allocType = cudaMemAllocationTypePinned;
  p.alloc.poolProps.location = {cudaMemLocationTypeDevice, 0};
  p.alloc.bytesize = 64;
  cudaGraphCreate(&graph, 0);
  cudaGraphAddNode(&allocate, graph, nullptr, nullptr, 0, &p);
  void* const array = p.alloc.dptr;
  p = {cudaGraphNodeTypeMemset};
  p.memset = {array, 0, 7, 1, BYTES, 1};
  cudaGraphAddNode(&fill, graph, &allocate, nullptr, 1, &p);
  p = {cudaGraphNodeTypeMemFree};
  p.free.dptr = array;
  cudaGraphAddNode(&release, graph, &fill, nullptr, 1, &p);
  cudaGraphInstantiate(&exec, graph, 0);
  for (int i = 0; i < 2; ++i) printf("launched %d\n", cudaGraphLaunch(exec, 0));
}
"""
play("nodes of graphs for memory", MEMORY_NODES.replace("BYTES", "64"), 0, "launched 0\nlaunched 0",
     never="not freed")
play("... that is too small", MEMORY_NODES.replace("BYTES", "65"), 1, "copy out of bounds: main (",
     "mine.cu:15", "writes 65 bytes of array of a graph, which has 64 bytes")
CUBLAS = r"""#include <cublas_v2.h>
#include <cstdio>
int main() {
  float a[] = {1, 2, 3, 4}, b[] = {5, 6, 7, 8}, c[4], *d, one = 1, zero = 0;
  cudaMalloc(&d, 48);
  cudaMemcpy(d, a, 16, cudaMemcpyHostToDevice);
  cudaMemcpy(d + 4, b, 16, cudaMemcpyHostToDevice);
  cublasHandle_t handle;
  cublasCreate(&handle);
  cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_T, 2, 2, 2, &one, d, 2, d + 4, 2, &zero, d + 8, 2);
  cudaMemcpy(c, d + 8, 16, cudaMemcpyDeviceToHost);
  printf("%g %g %g %g\n", c[0], c[1], c[2], c[3]);
}
"""
# Column by column: a = [1 3; 2 4], b^T = [5 6; 7 8].
play("cuBLAS, by the host", CUBLAS, 0, "26 38 30 44",
     "1 call of cuBLAS: computed by the host, and not counted",
     "not freed when the program ended: d")

RANDOM = r"""#include <curand_kernel.h>
#include <cstdio>
template <class State>
__global__ void draw(State* states, float* out, unsigned long long seed) {
  const int i = threadIdx.x;
  curand_init(seed, i, 0, &states[i]);
  State state = states[i];
  if (i == 63) printf("%08x ", curand(&state));
  else curand(&state);
  out[2 * i] = curand_uniform(&state);
  out[2 * i + 1] = curand_normal(&state);
}
template <class State>
void show() {
  State* states;
  float* out;
  cudaMallocManaged(&states, 64 * sizeof(State)), cudaMallocManaged(&out, 128 * sizeof(float));
  draw<<<1, 64>>>(states, out, 1234ull);
  cudaDeviceSynchronize();
  printf("%.4f %.4f\n", out[0], out[127]);
  cudaFree(states), cudaFree(out);
}
int main() {
  show<curandStateXORWOW_t>();
  show<curandStatePhilox4_32_10_t>();
  show<curandStateMRG32k3a>();
}
"""
# The numbers are those of the header compiled for a host without the workbook.
if re.search(r"^WORKBOOK_CURAND_FOLDER:PATH=/", (COPY / "build/CMakeCache.txt").read_text(), re.M):
    play("cuRAND in kernels", RANDOM, 0, "d33eb828 0.4349 -1.9851", "8bdfc6b1 0.8535 -1.3971",
         "a76fdfef 0.5872 1.1606", "draw<curandStateXORWOW>", never="not freed")
else:
    play("cuRAND in kernels", RANDOM, 1, "curand_kernel.h is the CUDA Toolkit's, which was not found")

INTEGERS = r"""#include <mma.h>
#include <climits>
#include <cstdio>
using namespace nvcuda;
template <class T, class A, class B>
__global__ void product(const T* a, const T* b, int* c) {
  wmma::fragment<wmma::matrix_a, 16, 16, 16, T, A> left;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, T, B> right;
  wmma::fragment<wmma::accumulator, 16, 16, 16, int> sum;
  wmma::load_matrix_sync(sum, c, 16, wmma::mem_row_major);
  wmma::load_matrix_sync(left, a, 16);
  wmma::load_matrix_sync(right, b, 16);
  wmma::mma_sync(sum, left, right, sum);
  wmma::mma_sync(sum, left, right, sum, true);
  wmma::store_matrix_sync(c, sum, 16, wmma::mem_row_major);
}
int first(int i) { return i % 3 ? i : i % 2 ? INT_MAX : INT_MIN; }
template <class T, class A, class B>
int wrong(int a_row, int a_column, int b_row, int b_column) {
  T *a, *b;
  int *c, wrong = 0;
  cudaMallocManaged(&a, 256), cudaMallocManaged(&b, 256), cudaMallocManaged(&c, 1024);
  for (int i = 0; i < 256; ++i) a[i] = 37 * i, b[i] = 91 * i + 5, c[i] = first(i);
  product<T, A, B><<<1, 32>>>(a, b, c);
  cudaDeviceSynchronize();
  for (int i = 0; i < 256; ++i) {
    long long product = 0, sum = first(i);
    for (int k = 0; k < 16; ++k)
      product += a[i / 16 * a_row + k * a_column] * b[k * b_row + i % 16 * b_column];
    sum = int(sum + product) + product;
    wrong += (sum > INT_MAX ? INT_MAX : sum < INT_MIN ? INT_MIN : sum) != c[i];
  }
  cudaFree(a), cudaFree(b), cudaFree(c);
  return wrong;
}
int main() {
  printf("signed %d unsigned %d\n",
         wrong<signed char, wmma::row_major, wmma::col_major>(16, 1, 1, 16),
         wrong<unsigned char, wmma::col_major, wmma::row_major>(1, 16, 16, 1));
}
"""
play("products of 8-bit integers on tensor cores, which wrap around or saturate", INTEGERS, 0,
     "signed 0 unsigned 0", never="not freed")

CARD = r"""#include <cstdio>
__global__ void arch(int* x) {
  extern __shared__ int tile[];
  tile[0] = 0;
#ifdef __CUDA_ARCH__
  *x = __CUDA_ARCH__ + tile[0];
#endif
}
int main(int, char**) {
  const int bytes = 100 << 10;
  int *x, arch_of_kernel, resident;
  cudaDeviceProp p;
  cudaGetDeviceProperties(&p, 0);
  printf("%d.%d, %d multiprocessors, %d GB/s\n", p.major, p.minor, p.multiProcessorCount,
         p.memoryClockRate / 1000 * 2 * (p.memoryBusWidth / 8) / 1000);
  cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, arch, 128, 10 << 10);
  const bool has_more =
      cudaFuncSetAttribute(arch, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes) == cudaSuccess;
  cudaMalloc(&x, sizeof(int));
  arch<<<1, 1, has_more ? bytes : 4>>>(x);
  cudaMemcpy(&arch_of_kernel, x, sizeof(int), cudaMemcpyDeviceToHost);
  cudaFree(x);
  printf("%d blocks, more shared memory %d, arch %d\n", resident, has_more, arch_of_kernel);
}
"""
play("properties and limits are an H200's", CARD, 0, "9.0, 132 multiprocessors, 4800 GB/s",
     "16 blocks, more shared memory 1, arch 900", never="not freed")
play("... or another card's", CARD, 0, "8.6, 28 multiprocessors, 360 GB/s",
     "9 blocks, more shared memory 0, arch 860", options=["--model", "RTX3060"])
play("... whose shared memory is too small", CARD.replace("has_more ? bytes : 4", "bytes"), 1,
     "launch refused: kernel arch (", "102400 bytes of dynamic and 0 of static shared memory: a block has at "
     "most 65536 on Tesla T4", options=["--model", "t4"])
play("... which nothing has asked for",
     CARD.replace("MaxDynamicSharedMemorySize", "PreferredSharedMemoryCarveout"), 1,
     "launch refused: kernel arch (", "102400 bytes of dynamic shared memory: this kernel has 49152",
     "cudaFuncSetAttribute(kernel,")
play("... and of no other name", CARD, 2, "--model rtx: no such card is known; accepted are t4, v100",
     options=["--model", "rtx"])

TWO_GPUS = r"""#include <cstdio>
__constant__ int factor;
__device__ int calls;
__device__ __managed__ int all_calls;
__global__ void scale(const int* from, int* to) { ++calls, ++all_calls, *to = factor * *from; }
int main() {
  int gpus, value = 5, results[4], *x[2];
  cudaStream_t streams[2];
  cudaGetDeviceCount(&gpus);
  for (int gpu = 0; gpu < gpus; ++gpu) {
    cudaSetDevice(gpu);
    int own_factor = gpu + 2;
    cudaMemcpyToSymbol(factor, &own_factor, sizeof(int));
    cudaMalloc(&x[gpu], sizeof(int));
    cudaStreamCreate(&streams[gpu]);
    cudaMemcpy(x[gpu], &value, sizeof(int), cudaMemcpyHostToDevice);
  }
  cudaDeviceEnablePeerAccess(0, 0);
  scale<<<1, 1, 0, streams[1]>>>(x[0], x[1]);
  cudaMemcpyPeer(x[0], 0, x[1], 1, sizeof(int));
  cudaSetDevice(0);
  for (int i = 0; i < 2; ++i) scale<<<1, 1>>>(x[0], x[0]);
  cudaMemcpy(results, x[0], sizeof(int), cudaMemcpyDeviceToHost);
  for (int gpu = 0; gpu < gpus; ++gpu) {
    cudaSetDevice(gpu);
    cudaMemcpyFromSymbol(&results[1 + gpu], calls, sizeof(int));
    cudaFree(x[gpu]);
  }
  printf("%d GPUs: %d, calls %d %d, in all %d\n", gpus, results[0], results[1], results[2], all_calls);
}
"""
GPUS = ["--gpus", 2]
play("two GPUs, with variables of their own and peer access", TWO_GPUS, 0,
     "2 GPUs: 60, calls 2 1, in all 3", options=GPUS, never="not freed")
play("... but access is not enabled", TWO_GPUS.replace("cudaDeviceEnablePeerAccess", "// "), 1,
     "memory of another GPU:", "mine.cu:19", "a kernel on GPU 1 uses x[gpu], which is in the memory of GPU 0",
     options=GPUS)
play("... but the stream is another GPU's", TWO_GPUS.replace("streams[1]>", "streams[0]>"), 1,
     "stream of another GPU:", "mine.cu:19", "this launch is on GPU 1, and its stream was made for GPU 0",
     options=GPUS)
POOLS = TWO_GPUS.replace("cudaMalloc(&x[gpu], sizeof(int))", "cudaMallocAsync(&x[gpu], sizeof(int), 0)")
SET_ACCESS = r"""cudaMemPool_t pool;
  cudaDeviceGetDefaultMemPool(&pool, 0);
  cudaMemAccessDesc access = {{cudaMemLocationTypeDevice, 1}, cudaMemAccessFlagsProtReadWrite};
  cudaMemPoolSetAccess(pool, &access, 1);"""
play("... with memory of a pool", POOLS.replace("cudaDeviceEnablePeerAccess(0, 0);", SET_ACCESS), 0,
     "2 GPUs: 60, calls 2 1", options=GPUS)
play("... which peer access does not open", POOLS, 1, "memory of another GPU:", "mine.cu:19", options=GPUS)
LOST_ACCESS = r"""#include <cstdio>
__global__ void copy(const int* from, int* to) { *to = *from; }
int main() {
  int *x, *y;
  cudaMalloc(&x, sizeof(int));
  cudaMemset(x, 0, sizeof(int));
  cudaSetDevice(1);
  cudaMalloc(&y, sizeof(int));
  cudaDeviceEnablePeerAccess(0, 0);
  for (int i = 0; i < 3; ++i) {
    if (i == LAST) cudaDeviceDisablePeerAccess(0);
    copy<<<1, 1>>>(x, y);
  }
  cudaFree(x), cudaFree(y);
}
"""
play("a launch that is repeated with the same access", LOST_ACCESS.replace("LAST", "3"), 0,
     "2 of 3 launches were not run again", options=GPUS)
play("... but access has been lost before it", LOST_ACCESS.replace("LAST", "2"), 1, "memory of another GPU:",
     "mine.cu:12", options=GPUS)
GRAPH_OF_GPU = r"""#include <cstdio>
__device__ int value;
int main() {
  int seven = 7, results[2];
  cudaStream_t stream;
  cudaGraph_t graph;
  cudaGraphExec_t exec;
  cudaSetDevice(1);
  cudaStreamCreate(&stream);
  cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
  cudaMemcpyToSymbolAsync(value, &seven, sizeof(int), 0, cudaMemcpyHostToDevice, stream);
  cudaStreamEndCapture(stream, &graph);
  cudaGraphInstantiate(&exec, graph, 0);
  cudaSetDevice(0);
  cudaGraphLaunch(exec, stream);
  for (int gpu = 0; gpu < 2; ++gpu) {
    cudaSetDevice(gpu);
    cudaMemcpyFromSymbol(&results[gpu], value, sizeof(int));
  }
  printf("values %d %d\n", results[0], results[1]);
}
"""
play("a captured copy to a variable of the GPU that was chosen then", GRAPH_OF_GPU, 0, "values 0 7",
     options=GPUS)
GRAPH_MEMORY = r"""#include <cstdio>
__global__ void set(int* x) { *x = 7; }
int main() {
  int* x;
  cudaGraph_t graph;
  cudaGraphExec_t exec;
  cudaGraphNode_t allocate, launch, release;
  cudaMemAccessDesc access = {{cudaMemLocationTypeDevice, OTHER}, cudaMemAccessFlagsProtReadWrite};
  cudaGraphCreate(&graph, 0);
  cudaGraphNodeParams p = {cudaGraphNodeTypeMemAlloc};
  p.alloc.poolProps.allocType = cudaMemAllocationTypePinned;
  p.alloc.poolProps.location = {cudaMemLocationTypeDevice, 1};
  p.alloc.accessDescs = &access;
  p.alloc.accessDescCount = 1;
  p.alloc.bytesize = 64;
  cudaGraphAddNode(&allocate, graph, nullptr, nullptr, 0, &p);
  x = (int*)p.alloc.dptr;
  void* arguments[] = {&x};
  p = {cudaGraphNodeTypeKernel};
  p.kernel.func = (void*)set;
  p.kernel.gridDim = p.kernel.blockDim = dim3(1);
  p.kernel.kernelParams = arguments;
  cudaGraphAddNode(&launch, graph, &allocate, nullptr, 1, &p);
  cudaGraphAddMemFreeNode(&release, graph, &launch, 1, x);
  cudaGraphInstantiate(&exec, graph, 0);
  cudaGraphLaunch(exec, 0);
  unsigned long long bytes[2];
  for (int gpu = 0; gpu < 2; ++gpu)
    cudaDeviceGetGraphMemAttribute(gpu, cudaGraphMemAttrUsedMemHigh, &bytes[gpu]);
  printf("bytes %llu %llu\n", bytes[0], bytes[1]);
}
"""
play("memory of a graph, of the GPU that its node names", GRAPH_MEMORY.replace("OTHER", "0"), 0,
     "bytes 0 64", options=GPUS)
play("... which gives no other GPU access", GRAPH_MEMORY.replace("OTHER", "1"), 1, "memory of another GPU:",
     "a kernel on GPU 0 uses array of a graph, which is in the memory of GPU 1", options=GPUS)

THREADS = r"""#include <cstdio>
#include <thread>
#include <vector>
__global__ void add(int* x, int value) {
  __shared__ int values[64];
  values[threadIdx.x] = value;
  __syncthreads();
  x[blockIdx.x * blockDim.x + threadIdx.x] += values[63 - threadIdx.x];
}
void work(int number, int* wrong) {
  int *x, *host;
  cudaStream_t stream;
  cudaStreamCreate(&stream);
  cudaMalloc(&x, 4096), cudaMallocHost(&host, 4096);
  cudaMemsetAsync(x, 0, 4096, stream);
  for (int i = 0; i < 20; ++i) add<<<16, 64, 0, stream>>>(x, number + i);
  cudaMemcpyAsync(host, x, 4096, cudaMemcpyDeviceToHost, stream);
  cudaStreamSynchronize(stream);
  for (int i = 0; i < 1024; ++i) *wrong += host[i] != 20 * number + 190;
  cudaFree(x), cudaFreeHost(host), cudaStreamDestroy(stream);
}
int main() {
  std::vector<int> wrong(8);
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) threads.emplace_back(work, i, &wrong[i]);
  for (std::thread& each : threads) each.join();
  int all = 0;
  for (int each : wrong) all += each;
  printf("wrong %d\n", all);
}
"""
play("threads of the host", THREADS, 0, "wrong 0", "add 160 16 64", never="not freed")
play("... one of which launches a kernel with a mistake", THREADS.replace("<<<16, ", "<<<17, "), 1,
     "out of bounds: kernel add")
OWN_STREAMS = r"""#include <cstdio>
#include <thread>
int main() {
  int *x, *y;
  size_t nodes = 0;
  cudaGraph_t graph;
  cudaMalloc(&x, sizeof(int));
  cudaStreamBeginCapture(cudaStreamPerThread, cudaStreamCaptureModeMODE);
  std::thread([&] {
    cudaMalloc(&y, sizeof(int));
    cudaMemsetAsync(y, 0, sizeof(int), cudaStreamPerThread);
    cudaStreamSynchronize(cudaStreamPerThread);
  }).join();
  cudaMemsetAsync(x, 0, sizeof(int), cudaStreamPerThread);
  cudaStreamEndCapture(cudaStreamPerThread, &graph);
  cudaGraphGetNodes(graph, nullptr, &nodes);
  printf("nodes %d\n", (int)nodes);
  cudaFree(x), cudaFree(y);
}
"""
play("a thread that works in its own stream while another one captures", OWN_STREAMS.replace("MODE",
     "ThreadLocal"), 0, "nodes 1", never="not freed")
play("... for all threads", OWN_STREAMS.replace("MODE", "Global"), 1, "not possible during a capture:",
     "mine.cu:10")
DETACHED = r"""#include <atomic>
#include <chrono>
#include <thread>
void wait(int milliseconds) { std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds)); }
struct Last {
  ~Last() { wait(300); }
} last;
std::atomic<int> calls;
int main() {
  std::thread([] {
    for (int* x;; ++calls) cudaMalloc(&x, sizeof(int)), cudaFree(x);
  }).detach();
  while (calls < 5) wait(1);
}
"""
play("a thread that goes on when main has returned", DETACHED, 0, "no kernel", never="outside of main")

# --- What is found ---

GRID = changed(("#include <vector>", "#include <vector>\n#include <cooperative_groups.h>"),
               ("if (i < n)", "cooperative_groups::this_grid().sync();\n  if (i < n)"))
EXCHANGE = changed(("if (i < n)", "__shared__ int sum;\n  atomicExch(&sum, 0);\n  __syncthreads();\n"
                                  "  atomicAdd(&sum, 1);\n  if (i < n)"))
play("an exchange that sets a first value is none", EXCHANGE, 0, "y[999] = 8")
play("grid.sync() without a cooperative launch", GRID, 1,
     "grid.sync() in a launch that is not cooperative: kernel saxpy", "grid.sync() at line 8")
TOGETHER = r"""#include <cooperative_groups.h>
#include <cstdio>
namespace cg = cooperative_groups;
__global__ void sums(const int* x, int* part, int* all, int n, int rounds, int early) {
  __shared__ int mine[64];
  extern __shared__ int kept[];
  cg::grid_group grid = cg::this_grid();
  const int t = threadIdx.x, b = blockIdx.x;
  int local = 0;
  for (int i = b * 64 + t; i < n; i += gridDim.x * 64) local += x[i];
  mine[t] = local;
  kept[t] = 1000 * b + t;
  __syncthreads();
  for (int round = 0; round < rounds; ++round) {
    if (b == early) return;
    int whole = 0;
    for (int i = 0; i < 64; ++i) whole += mine[i];
    if (t == 0) part[b] = whole;
    grid.sync();
    int sum = 0;
    for (unsigned i = 0; i < gridDim.x; ++i) sum += part[i];
    if (t == 0) all[b] = sum;
    GAP
    local = mine[(t + 1) % 64];
  }
  if (kept[t] != 1000 * b + t || local != mine[(t + 1) % 64]) all[b] = -1;
}
int main() {
  const int n = 10000;
  int *x, *part, *all, count = BLOCKS, rounds = 3, early = EARLY, per = 0, can = 0;
  cudaMallocManaged(&x, n * 4), cudaMallocManaged(&part, 8192), cudaMallocManaged(&all, 8192);
  for (int i = 0; i < n; ++i) x[i] = i;
  void* arguments[] = {&x, &part, &all, (void*)&n, &rounds, &early};
  cudaDeviceGetAttribute(&can, cudaDevAttrCooperativeLaunch, 0);
  cudaOccupancyMaxActiveBlocksPerMultiprocessor(&per, sums, 64, 256);
  if (can) cudaLaunchCooperativeKernel((void*)sums, count, 64, arguments, 256);
  cudaDeviceSynchronize();
  printf("sums %d %d, %d resident\n", all[0], all[count - 1], per);
  cudaFree(x), cudaFree(part), cudaFree(all);
}
"""


def together(what, status, *texts, blocks=40, early=-1, gap="grid.sync();"):
    source = TOGETHER.replace("BLOCKS", str(blocks)).replace("EARLY", str(early)).replace("GAP", gap)
    play(what, source, status, *texts, never="not freed")


together("blocks that wait for each other", 0, "sums 49995000 49995000, 32 resident", "sums 40 64")
COUNTS = (COPY / "tests/data/programs/cooperative.cu").read_text()
play("... and count as in two launches", COUNTS, 0, "both 66 256 6250 25000 100% 6250 25000 100% 3653",
     "first 66 256 3125 12500 100% 3125 12500 100% 528", "second 66 256 3125 12500 100% 3125 12500 100% 3653")
together("... of which one has ended", 1, "grid.sync() that not all blocks reach: kernel sums",
         "thread (0,0,0) of block (0,0,0) waits at grid.sync() at line 19",
         "thread (0,0,0) of block (7,0,0) has ended; 39 of 40 blocks wait", early=7)
together("... once too seldom", 1, "race in device memory: kernel sums", "part[0]", gap="")
together("... of which one thread has ended", 1, "barrier that not all threads reach: kernel sums",
         "thread (5,0,0) of block (0,0,0) has ended", gap="if (t == 5) return; grid.sync();")
together("... with a flag", 1, "block that waits for a later block: kernel sums",
         "wait for each other with grid.sync() alone", gap="while (((volatile int*)all)[39] == 0) {}")
together("... but for a thread with a flag", 1, "block that waits for a later block: kernel sums",
         "thread (1,0,0) of block (0,0,0) waits at grid.sync() at line 23, and so for 62 more",
         gap="if (t == 0) while (((volatile int*)all)[39] == 0) {} grid.sync();")
together("... but for a lane with __syncwarp()", 1,
         "thread (1,0,0) of block (0,0,0), which waits at grid.sync()",
         gap="if (t == 0) __syncwarp(); grid.sync();")
together("... which are too many", 1, "launch refused: kernel sums",
         "a cooperative launch of 5000 blocks: 132 multiprocessors have room for 32 each, 4224 in all",
         blocks=5000)
ENDED_LANE = (("if (i < n) ", "if (i >= n || i % 32 == 31) return;\n  "),
              ("y[i];", "__shfl_down_sync(0xffffffff, y[i], 1);"))
play("a lane that has ended is read", changed(*ENDED_LANE), 0, "that lane has ended or is not there",
     options=["--", 64])
play("... by a program that ends itself", changed(*ENDED_LANE, ("return 0", "exit(0)")), 0,
     "that lane has ended or is not there", options=["--", 64])

play("a kernel out of bounds", changed(("if (i < n) ", "")), 1, "out of bounds: kernel saxpy (", "mine.cu:5",
     "reads d_x[1000] at line 7")
play("never written", changed(("  cudaMemcpy(d_y, y.data(), bytes, cudaMemcpyHostToDevice);\n", "")), 1,
     "uninitialised device memory: kernel saxpy", "d_y[0]")
play("a race", changed(("y[i] = a * x[i] + y[i];", "y[0] = a * x[i] + i;")), 1,
     "race in device memory: kernel saxpy")
play("a variable of the device that threads change together",
     changed(("__global__", "__device__ int count;\n__global__"), ("y[i] = a", "++count, y[i] = a")), 1,
     "race in device memory: kernel saxpy", "count[0]")
play("a variable of the device, out of bounds",
     changed(("__global__", "__device__ float before, table[5] = {1}, after;\n__global__"),
             ("y[i] = a * x[i]", "y[i] = (&table[0])[i]")), 1,
     "out of bounds: kernel saxpy", "reads table[5]")
play("a host pointer for a kernel",
     changed(("d_x, d_y);\n  cudaMemcpy(y", "x.data(), d_y);\n  cudaMemcpy(y")), 1,
     "not device memory: kernel saxpy")
play("host code that reads device memory", changed((BACK, "y[0] = d_y[0];")), 1,
     "device memory touched by the host: main", "d_y[0] at line 22")
play("a copy past the end", changed(("x.data(), bytes", "x.data(), 4 * bytes")), 1,
     "copy out of bounds: main", "mine.cu:18", "cudaMemcpy writes 16000 bytes of d_x, which has 4000 bytes")
play("a copy in the wrong direction", changed(("DeviceToHost", "HostToDevice")), 1,
     "wrong direction of a copy", "its source is d_y in device memory")
play("freed too early", changed((BACK, "cudaFree(d_y); " + BACK)), 1, "freed memory: main",
     "cudaMemcpy reads d_y, which has been freed")
play("freed twice", changed(("  cudaFree(d_y);", "  cudaFree(d_x);")), 1, "wrong free: main",
     "cudaFree frees d_x, which has been freed before")
play("a block that is too large", changed(("256>>>", "2048>>>")), 1, "launch refused: kernel saxpy")
play("what is found is not the user's to catch",
     changed((LAUNCH, "try { saxpy<<<8, 256>>>(2 * n, 2.0f, d_x, d_y); } catch (...) {}")), 1,
     "out of bounds: kernel saxpy", never="y[999]")
TILES = changed(("#include <vector>", "#include <vector>\n#include <cooperative_groups/reduce.h>"),
                ("int i = blockIdx", "auto tile = cooperative_groups::tiled_partition<64>("
                 "cooperative_groups::this_thread_block()); WAIT;\n  int i = blockIdx"))
play("a barrier of several warps", TILES.replace("WAIT", "tile.sync()"), 1,
     "unsupported instruction: kernel saxpy", "a barrier of several warps, but not of the whole block at",
     "line 7")
play("a reduction of several warps",
     TILES.replace("WAIT", "reduce(tile, a, cooperative_groups::plus<float>())"), 1,
     "the reduction of a tile of several warps at", "line 7")
HEAP = "int* volatile p = (int*)malloc(8); p[0] = i; free(p); "
play("memory of the heap that is freed twice", changed(("y[i] = a", HEAP + "free(p); y[i] = a"),
                                                       ("if (i < n) ", "if (i >= n) return;\n  ")), 1,
     "not device memory: kernel saxpy", "calls free at line 8")
play("memory of the heap that has been freed", changed(("y[i] = a", HEAP + "y[i] = p[0] + a"),
                                                       ("if (i < n) ", "if (i >= n) return;\n  ")), 1,
     "out of bounds: kernel saxpy", "reads heap[0..3], where nothing is in use,", "has a thread freed it")
WRITE = ("if (i < n) ", "if (i >= n) return;\n  ")
play("... that is written to", changed(("y[i] = a", HEAP + "p[1] = i; y[i] = p[1] + a"), WRITE), 1,
     "out of bounds: kernel saxpy", "writes heap[4..7], where nothing is in use,")
PAST = HEAP.replace("p[0]", "p[2]").replace("free(p)", "y[i] = p[2]")
play("memory of the heap past its end", changed(("y[i] = a", PAST + "y[i] = a"), WRITE), 1,
     "out of bounds: kernel saxpy", "writes heap[8..11], where nothing is in use,")
play("inline PTX", changed(("y[i] = a", 'asm volatile("discard.L2 [%0], 128;" :: "l"(x)); y[i] = a')), 1,
     "unsupported instruction: kernel saxpy", "inline PTX: discard.L2 [%0], 128 at", "line 7")
play("a status of main", changed(("return 0", "return 7")), 1, "main returned 7.", "saxpy 3 4 256")
play("a program that ends itself", changed(("return 0", "exit(0)")), 0, "saxpy 3 4 256")
play("... from a kernel", changed(("if (i < n)", "if (i == 40) exit(0);\n  if (i < n)")), 1,
     "host function in a kernel: kernel saxpy", "thread (40,0,0) of block (0,0,0) calls exit()")
play("a launch without end", changed(("(n + 255) / 256, 256", "2147483647, 1024")), 1,
     "mine.cu was still running after 3 seconds, and was stopped", WORKBOOK_MINUTES="0.05")
play("... with a status", changed(("return 0", "exit(5)")), 1, "The program ended itself with status 5.",
     "saxpy 3")
play("an exception that nobody catches", changed(("return 0", "throw 1")), 1, "main ended with an exception")

# With the launch, at line 21, in a captured stream.
CAPTURE = """cudaStream_t s, t;
  cudaEvent_t e;
  cudaGraph_t g;
  cudaGraphExec_t exec;
  cudaStreamCreate(&s), cudaStreamCreate(&t), cudaEventCreate(&e);
  cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal);
  saxpy<<<(n + 255) / 256, 256, 0, s>>>(n, 2.0f, d_x, d_y);
  MORE
  cudaStreamEndCapture(s, &g);
  cudaGraphInstantiate(&exec, g, 0);
  cudaGraphLaunch(exec, s);"""


def captured(what, more, status, *texts, **options):
    source = changed((LAUNCH, CAPTURE.replace("MORE", more)), ("  for (int i = 0; i < 3; ++i)\n", ""))
    play(what, source, status, *texts, **options)


captured("a captured launch runs when the graph is launched", "", 0, "y[999] = 4", "saxpy 4 256")
captured("a launch in the default stream during a capture", LAUNCH, 1,
         "default stream used during a capture:", "mine.cu:27", "this launch works in the default stream")
captured("a copy in the default stream", BACK, 1, "default stream used during a capture: main (",
         "mine.cu:27")
captured("a wait for a captured stream", "cudaStreamSynchronize(s);", 1, "wait during a capture: main (",
         "mine.cu:27")
captured("an allocation during a capture", "cudaMalloc(&d_x, 4);", 1, "not possible during a capture: main (",
         "mine.cu:27", "cudaMalloc is called")
captured("a stream that has joined the capture, and is not waited for",
         "cudaEventRecord(e, s); cudaStreamWaitEvent(t, e); cudaMemsetAsync(d_y, 0, 4, t);", 1,
         "wrong end of a capture: main (", "mine.cu:28")
captured("a finding in a captured copy",
         "cudaMemcpyAsync(y.data(), d_y, 2 * bytes, cudaMemcpyDeviceToHost, s);", 1,
         "copy out of bounds: main (", "mine.cu:27")
captured("a graph that has been destroyed", "cudaStreamEndCapture(s, &g); cudaGraphDestroy(g); g = nullptr;"
         "cudaGraphInstantiate(&exec, g, 0);", 1, "unknown graph: main (", "mine.cu:27")
captured("memory of a graph that is not freed before its next launch",
         "float* p; cudaMallocAsync(&p, 64, s); cudaStreamEndCapture(s, &g);"
         "cudaGraphInstantiate(&exec, g, 0); cudaGraphLaunch(exec, s); cudaGraphLaunch(exec, s);", 1,
         "array allocated twice: main (", "mine.cu:27", "p has not been freed since")
REGISTERED = "{ cudaHostRegister(x.data(), 2000, 0); saxpy<<<4, 256>>>(n, 2.0f, x.data(), d_y); }"
play("registered memory of the host, out of bounds", changed((LAUNCH, REGISTERED)), 1,
     "out of bounds: kernel saxpy", "reads x.data()[500]")
play("memory that is registered twice", changed((LAUNCH, 2 * "cudaHostRegister(x.data(), bytes, 0);")), 1,
     "not supported: main (", "mine.cu:21", "cudaHostRegister gets x.data(), which shares a page")
play("memory that is not registered", changed((LAUNCH, "cudaHostUnregister(x.data());")), 1,
     "wrong free: main (", "cudaHostUnregister gets memory that is not registered")
play("memory that is not mapped", changed((LAUNCH, "cudaHostGetDevicePointer(&d_x, x.data(), 0);")), 1,
     "not mapped: main (", "mine.cu:21")

WAITS = changed((LAUNCH, "saxpy<<<1, 1>>>(n, 2.0f, flag, d_y); *flag = 1;"),
                ("if (i < n)", "while (*(volatile const float*)x == 0) {}\n  if (i < n)"),
                ("float *d_x, *d_y;", "float *d_x, *d_y, *flag; cudaMallocHost(&flag, 4); *flag = 0;"))
play("a kernel that waits for the host", WAITS, 1, "deadlock: kernel saxpy", "polls pinned[0] at line 7",
     "If host code was: it goes on only when the kernel has ended.")
SPIN = changed(("if (i < n)", "while (state == 0) {}\n  if (i < n)"),
               ("__global__", "__device__ SPACE volatile int state;\n__global__"),
               (LAUNCH, "saxpy<<<1, 1>>>(n, 2.0f, d_x, d_y);"))
play("... or for another thread, with a variable", SPIN.replace("SPACE", ""), 1, "deadlock: kernel saxpy",
     "polls state[0] at line 8", never="If host code was")
play("... or for the host, with a managed one", SPIN.replace("SPACE", "__managed__"), 1,
     "polls state[0] at line 8", "If host code was: it goes on")

# --- What is refused ---

play("an allocation before main",
     changed(("__global__", "struct A { A() { cudaMalloc(&p, 4); } int* p; } a;\n__global__")), 1,
     "play: an allocation outside of main: the CPU device is not there then")
OUTSIDE = changed(("int main", "struct A { A() { BEFORE; } ~A() { AFTER; } cudaGraph_t graph; } a; int main"))
ALLOWED = "cudaFuncSetAttribute(saxpy, cudaFuncAttributeMaxDynamicSharedMemorySize, 4)"
play("an attribute of a kernel before main", OUTSIDE.replace("BEFORE", ALLOWED).replace("AFTER", ""), 1,
     "play: cudaFuncSetAttribute outside of main")
ASKED = "cudaFuncAttributes all; cudaFuncGetAttributes(&all, saxpy)"
play("... or asked for, after it", OUTSIDE.replace("BEFORE", "").replace("AFTER", ASKED), 1,
     "y[999] = 8", "play: cudaFuncGetAttributes outside of main")
play("a graph before main", OUTSIDE.replace("BEFORE", "cudaGraphCreate(&graph, 0)").replace("AFTER", ""), 1,
     "play: a graph outside of main")
# Memory that was freed by then has other contents.
OVERWRITTEN = "for (int i = 1; i < 4000; ++i) std::fill_n(new char[i], i, char(255)); "
CAPTURE = OVERWRITTEN + "cudaStreamBeginCapture(0, cudaStreamCaptureModeGlobal)"
play("a wrong call after main", OUTSIDE.replace("BEFORE", "").replace("AFTER", CAPTURE), 1,
     "play: wrong begin of a capture", "mine.cu:")
play("a library that is not there", "#include <cufft.h>\n" + SAXPY, 1,
     "this library is not there on the CPU device")
play("a compiler error", changed(("a * x[i]", "b * x[i]")), 1, "mine.cu:7:", "error:")
play("a function of the runtime that is not there", changed(("return 0", "return cudaGLMapBufferObject()")),
     1, "mine.cu:26:", "docs/any_file.md says what is there", never="kernel file")
play("a function of graphs that is not there", changed(("return 0", "cudaGraphDebugDotPrint(0, 0, 0)")), 1,
     "mine.cu:26:", "of graphs there are captures and nodes for kernels, copies, memsets, host functions")
play("a launch that does not end", changed((LAUNCH, "saxpy<<<1, 256(n);")), 1,
     "mine.cu:21: <<< without >>>")
play("memory that processes share", changed(("return 0", "cudaIpcMemHandle_t handle; return 0")), 1,
     "mine.cu:26:", "not supported: memory and events that processes share")
play("a GPU", SAXPY, 2, "on a GPU, compile it with nvcc", options=["--device", "gpu"])
play("a constant without a value", SAXPY, 2, "--set N: expected NAME=NUMBER, such as B=2",
     options=["--set", "N"])
KERNEL_FILE = '#include "play.hpp"\nnamespace DEVICE {\nvoid play() {}\n}\n'
play("options of such files, for another one", KERNEL_FILE, 2, "are for a file with a main; ",
     options=["--launches", 1])
