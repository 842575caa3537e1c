// Parts of the runtime, as programs use them. Each line that it prints ends in the number of wrong
// results.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

template <class T>
T* on_device(const std::vector<T>& host) {
  T* device;
  cudaMalloc(&device, host.size() * sizeof(T));
  cudaMemcpy(device, host.data(), host.size() * sizeof(T), cudaMemcpyHostToDevice);
  return device;
}
template <class T>
std::vector<T> on_host(T* device, int n) {
  std::vector<T> host(n);
  cudaMemcpy(host.data(), device, n * sizeof(T), cudaMemcpyDeviceToHost);
  cudaFree(device);
  return host;
}

// --- A large parameter: 24 KiB ---

struct Table {
  int values[6144];
};
__global__ void sum_of_parameter(const __grid_constant__ Table table, int* sums) {
  int sum = 0;
  for (int i = threadIdx.x; i < 6144; i += blockDim.x) sum += table.values[i];
  sums[threadIdx.x] = sum;
}

int of_parameter() {
  Table table;
  for (int i = 0; i < 6144; ++i) table.values[i] = i;
  int* sums = on_device(std::vector<int>(32));
  sum_of_parameter<<<1, 32>>>(table, sums);
  int wrong = 0, i = 0;
  for (const int sum : on_host(sums, 32)) wrong += sum != 192 * i++ + 32 * 192 * 191 / 2;
  return wrong;
}

// --- Graphs ---

__global__ void add(int* x, int value) { x[threadIdx.x] += value; }
template <class T>
__global__ void multiply(T* x, T factor) {
  x[threadIdx.x] *= factor;
}
void count_call(void* count) { ++*(int*)count; }

int differing(const int* x, int n, int value) {
  int wrong = 0;
  for (int i = 0; i < n; ++i) wrong += x[i] != value;
  return wrong;
}

// Two streams: x is cleared and added to, while y is set; x becomes (x + 2) * 3 + y.
__global__ void sum(int* x, const int* y) { x[threadIdx.x] += y[threadIdx.x]; }

int of_capture() {
  int host[32], calls = 0, wrong = 0;
  int *x = on_device(std::vector<int>(32, 100)), *y = on_device(std::vector<int>(32, 100));
  cudaStream_t stream, other;
  cudaStreamCreate(&stream);
  cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking);
  cudaEvent_t fork, join;
  cudaEventCreate(&fork);
  cudaEventCreate(&join);
  cudaGraph_t graph;
  cudaGraphExec_t exec = nullptr;
  for (int value = 2; value < 5; ++value) {
    cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
    cudaEventRecord(fork, stream);
    cudaStreamWaitEvent(other, fork);
    cudaMemsetAsync(x, 0, sizeof host, stream);
    cudaMemsetAsync(y, 0, sizeof host, other);
    add<<<1, 32, 0, other>>>(y, 10);
    cudaEventRecord(join, other);
    add<<<1, 32, 0, stream>>>(x, value);
    multiply<int><<<1, 32, 0, stream>>>(x, 3);
    cudaStreamWaitEvent(stream, join, 0);
    sum<<<1, 32, 0, stream>>>(x, y);
    cudaMemcpyAsync(host, x, sizeof host, cudaMemcpyDeviceToHost, stream);
    cudaLaunchHostFunc(stream, count_call, &calls);
    cudaStreamEndCapture(stream, &graph);
    wrong += calls != 2 * (value - 2);
    if (exec) {
      cudaGraphExecUpdateResultInfo info;
      wrong += cudaGraphExecUpdate(exec, graph, &info) != cudaSuccess;
    } else {
      cudaGraphInstantiate(&exec, graph, nullptr, nullptr, 0);
    }
    size_t nodes;
    cudaGraphGetNodes(graph, nullptr, &nodes);
    wrong += nodes != 8;
    cudaGraphDestroy(graph);
    for (int i = 0; i < 2; ++i) cudaGraphLaunch(exec, stream);
    cudaStreamSynchronize(stream);
    wrong += differing(host, 32, value * 3 + 10);
  }
  cudaGraphExecDestroy(exec);
  cudaStreamDestroy(stream);
  cudaFree(x);
  cudaFree(y);
  return wrong + (calls != 6);
}

int of_nodes() {
  int from[32], to[32], calls = 0, wrong = 0, value = 5;
  for (int& each : from) each = 1;
  int* x = on_device(std::vector<int>(32));
  cudaGraph_t graph, clone;
  cudaGraphNode_t in, kernel, scale, out, call, clear;
  cudaGraphCreate(&graph, 0);
  cudaGraphAddMemcpyNode1D(&in, graph, nullptr, 0, x, from, sizeof from, cudaMemcpyHostToDevice);
  void* arguments[] = {&x, &value};
  cudaKernelNodeParams parameters = {0};
  parameters.func = (void*)add;
  parameters.gridDim = dim3(1);
  parameters.blockDim = dim3(32);
  parameters.kernelParams = arguments;
  cudaGraphAddKernelNode(&kernel, graph, &in, 1, &parameters);
  cudaKernelNodeParams second = parameters;
  second.func = (void*)multiply<int>;
  cudaGraphAddKernelNode(&scale, graph, &kernel, 1, &second);
  cudaMemcpy3DParms copy = {0};
  copy.srcPtr = make_cudaPitchedPtr(x, sizeof to, 32, 1);
  copy.dstPtr = make_cudaPitchedPtr(to, sizeof to, 32, 1);
  copy.extent = make_cudaExtent(sizeof to, 1, 1);
  copy.kind = cudaMemcpyDeviceToHost;
  cudaGraphAddMemcpyNode(&out, graph, &scale, 1, &copy);
  cudaHostNodeParams host = {count_call, &calls};
  cudaGraphAddHostNode(&call, graph, &out, 1, &host);
  cudaMemsetParams fill = {x, 0, 7, sizeof(int), 16, 1};  // after the copies, although it is added last
  cudaGraphAddMemsetNode(&clear, graph, nullptr, 0, &fill);
  cudaGraphAddDependencies(graph, &in, &clear, nullptr, 1);
#ifdef __SANITIZE_THREAD__  // the CPU device has the form of CUDA 12 as well
  cudaGraphAddDependencies(graph, &clear, &kernel, 1);
#else
  cudaGraphAddDependencies(graph, &clear, &kernel, nullptr, 1);
#endif
  cudaGraphClone(&clone, graph);
  cudaGraphExec_t exec, exec_of_clone;
  cudaGraphInstantiate(&exec, graph, 0);
  cudaGraphInstantiateWithFlags(&exec_of_clone, clone, 0);
  cudaGraphLaunch(exec, 0);
  wrong += differing(to, 16, 60) + differing(to + 16, 16, 30);
  value = 1;
  cudaGraphLaunch(exec, 0);  // the arguments are those of the call that added the node
  wrong += differing(to, 16, 60);
  cudaGraphExecKernelNodeSetParams(exec, kernel, &parameters);
  cudaGraphLaunch(exec, 0);
  wrong += differing(to, 16, 40) + differing(to + 16, 16, 10);
  cudaGraphLaunch(exec_of_clone, 0);
  wrong += differing(to, 16, 60) + (calls != 4);
  cudaGraphExecDestroy(exec);
  cudaGraphExecDestroy(exec_of_clone);
  cudaGraphDestroy(graph);
  cudaGraphDestroy(clone);
  cudaFree(x);
  return wrong;
}

// --- Memory of the host that kernels use ---

int of_host_memory() {
  int *registered = (int*)aligned_alloc(4096, 4096), *mapped, *of_registered, *of_mapped, *managed;
  cudaHostRegister(registered, 32 * sizeof(int), cudaHostRegisterMapped);
  cudaHostAlloc((void**)&mapped, 32 * sizeof(int), cudaHostAllocMapped);
  for (int i = 0; i < 32; ++i) registered[i] = mapped[i] = i;
  cudaHostGetDevicePointer((void**)&of_registered, registered, 0);
  cudaHostGetDevicePointer(&of_mapped, mapped, 0);
  cudaMallocManaged((void**)&managed, sizeof(int), cudaMemAttachHost);
  *managed = 0;
  add<<<1, 1>>>(managed, 9);
  sum<<<1, 32>>>(of_registered, of_mapped);
  add<<<1, 32>>>(of_mapped, 1);
  int* device = on_device(std::vector<int>(32));
  cudaMemcpy(device, registered, 32 * sizeof(int), cudaMemcpyHostToDevice);
  const std::vector<int> copied = on_host(device, 32);
  int wrong = *managed != 9;
  for (int i = 0; i < 32; ++i)
    wrong += (registered[i] != 2 * i) + (mapped[i] != i + 1) + (copied[i] != 2 * i);
  cudaHostUnregister(registered);
  free(registered);
  cudaFreeHost(mapped);
  cudaFree(managed);
  return wrong;
}

// --- Memory pools, and memory of graphs ---

int of_pools() {
  int host[32], wrong = 0, *x, *y;
  cudaStream_t stream;
  cudaStreamCreate(&stream);
  cudaMemPool_t pool, own;
  cudaDeviceGetDefaultMemPool(&pool, 0);
  uint64_t threshold = UINT64_MAX, used, kept;
  cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &threshold);
  cudaMemPoolProps properties = {};
  properties.allocType = cudaMemAllocationTypePinned;
  properties.location = {cudaMemLocationTypeDevice, 0};
  cudaMemPoolCreate(&own, &properties);
  cudaMallocAsync(&x, sizeof host, stream);
  cudaMallocFromPoolAsync((void**)&y, sizeof host, own, stream);
  cudaMemsetAsync(x, 0, sizeof host, stream);
  cudaMemsetAsync(y, 0, sizeof host, stream);
  add<<<1, 32, 0, stream>>>(x, 3);
  sum<<<1, 32, 0, stream>>>(y, x);
  cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &used);
  wrong += used != sizeof host;
  cudaFreeAsync(x, stream);
  cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &used);
  cudaMemPoolGetAttribute(pool, cudaMemPoolAttrReservedMemCurrent, &kept);
  wrong += (used != 0) + (kept != sizeof host);
  cudaMemcpyAsync(host, y, sizeof host, cudaMemcpyDeviceToHost, stream);
  cudaFreeAsync(y, stream);
  cudaStreamSynchronize(stream);
  cudaMemPoolDestroy(own);
  return wrong + differing(host, 32, 3);
}

int of_graph_memory() {
  int host[32], wrong = 0, *x, *y;
  cudaStream_t stream;
  cudaStreamCreate(&stream);
  cudaGraph_t graph;
  cudaGraphExec_t exec;
  cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
  cudaMallocAsync(&x, sizeof host, stream);
  cudaMallocAsync(&y, sizeof host, stream);  // freed outside of the graph
  cudaMemsetAsync(x, 0, sizeof host, stream);
  cudaMemsetAsync(y, 0, sizeof host, stream);
  add<<<1, 32, 0, stream>>>(x, 4);
  sum<<<1, 32, 0, stream>>>(y, x);
  cudaFreeAsync(x, stream);
  cudaStreamEndCapture(stream, &graph);
  cudaGraphInstantiate(&exec, graph);
  for (int i = 0; i < 2; ++i) {
    cudaGraphLaunch(exec, stream);
    add<<<1, 32, 0, stream>>>(y, 1);
    cudaMemcpyAsync(host, y, sizeof host, cudaMemcpyDeviceToHost, stream);
    cudaFreeAsync(y, stream);
    wrong += differing(host, 32, 5);
  }
  return wrong;
}

// --- The heap of kernels ---

struct Shape {
  __device__ virtual int area() const = 0;
  __device__ virtual ~Shape() {}
};
struct Square : Shape {
  int side;
  __device__ explicit Square(int side) : side(side) {}
  __device__ int area() const override { return side * side; }
};
__global__ void make(Shape** shapes) { shapes[threadIdx.x] = new Square(threadIdx.x); }
__global__ void measure(Shape** shapes, int* areas) {
  int* copies = (int*)malloc(2 * sizeof(int));
  copies[0] = shapes[threadIdx.x]->area();
  copies[1] = 1;
  areas[threadIdx.x] = copies[0] + copies[1];
  free(copies);
  delete shapes[threadIdx.x];
}

int of_heap() {
  Shape** shapes;
  cudaMalloc(&shapes, 64 * sizeof(Shape*));
  int* areas = on_device(std::vector<int>(64));
  for (int i = 0; i < 2; ++i) {
    make<<<1, 64>>>(shapes);
    measure<<<1, 64>>>(shapes, areas);
  }
  cudaFree(shapes);
  int wrong = 0, i = 0;
  for (const int area : on_host(areas, 64)) wrong += area != i * i + 1, ++i;
  return wrong;
}

int main() {
  printf("large parameter %d\n", of_parameter());
  printf("captured graph %d\n", of_capture());
  printf("graph of nodes %d\n", of_nodes());
  printf("host memory %d\n", of_host_memory());
  printf("pools %d\n", of_pools());
  printf("memory of graphs %d\n", of_graph_memory());
  printf("heap %d\n", of_heap());
}
