/// \file
/// CUDA graphs (graphs.hpp), as far as types are known here, and what of them is not supported.
#pragma once

#include "play/program/start.hpp"

struct cudaKernelNodeParams {
  void* func;
  dim3 gridDim, blockDim;
  unsigned sharedMemBytes;
  void** kernelParams;
  void** extra;
};

namespace program {

/// Launches the kernel in the recorder: the arguments are copied, and nothing runs.
[[gnu::always_inline]] inline void record(const char* call, const cudaKernelNodeParams& node) {
  const Starter start = starter_of(node.func, node.extra, call);
  start(node.func, {node.gridDim, node.blockDim, node.sharedMemBytes, recorder()}, node.kernelParams);
}

}  // namespace program

[[gnu::always_inline]] inline cudaError_t cudaGraphAddKernelNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                                                 const cudaGraphNode_t* before, size_t count,
                                                                 const cudaKernelNodeParams* kernel) {
  program::record("cudaGraphAddKernelNode", *kernel);
  return program::add_recorded(node, graph, before, count);
}
[[gnu::always_inline]] inline cudaError_t cudaGraphKernelNodeSetParams(cudaGraphNode_t node,
                                                                       const cudaKernelNodeParams* kernel) {
  program::record("cudaGraphKernelNodeSetParams", *kernel);
  return program::set_recorded(node);
}
[[gnu::always_inline]] inline cudaError_t cudaGraphExecKernelNodeSetParams(
    cudaGraphExec_t exec, cudaGraphNode_t node, const cudaKernelNodeParams* kernel) {
  program::record("cudaGraphExecKernelNodeSetParams", *kernel);
  return program::set_recorded(exec, node);
}
struct cudaGraphNodeParams {
  cudaGraphNodeType type;
  cudaKernelNodeParams kernel;
  struct {
    cudaMemcpy3DParms copyParams;
  } memcpy;
  cudaMemsetParams memset;
  cudaHostNodeParams host;
  struct {
    cudaGraph_t graph;
  } graph;
  cudaMemAllocNodeParams alloc;
  struct {
    void* dptr;
  } free;
  cudaConditionalNodeParams conditional;
};
[[gnu::always_inline]] inline cudaError_t cudaGraphAddNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                                           const cudaGraphNode_t* before, size_t count,
                                                           cudaGraphNodeParams* p) {
  switch (p->type) {
    case cudaGraphNodeTypeKernel:
      return cudaGraphAddKernelNode(node, graph, before, count, &p->kernel);
    case cudaGraphNodeTypeMemcpy:
      return cudaGraphAddMemcpyNode(node, graph, before, count, &p->memcpy.copyParams);
    case cudaGraphNodeTypeMemset:
      return cudaGraphAddMemsetNode(node, graph, before, count, &p->memset);
    case cudaGraphNodeTypeHost:
      return cudaGraphAddHostNode(node, graph, before, count, &p->host);
    case cudaGraphNodeTypeGraph:
      return cudaGraphAddChildGraphNode(node, graph, before, count, p->graph.graph);
    case cudaGraphNodeTypeEmpty:
      return cudaGraphAddEmptyNode(node, graph, before, count);
    case cudaGraphNodeTypeMemAlloc:
      return cudaGraphAddMemAllocNode(node, graph, before, count, &p->alloc);
    case cudaGraphNodeTypeMemFree:
      return cudaGraphAddMemFreeNode(node, graph, before, count, p->free.dptr);
    case cudaGraphNodeTypeConditional:
      return cudaGraphAddConditionalNode(node, graph, before, count, &p->conditional);
    default:
      program::refuse_node(p->type);
  }
}
/// As CUDA 13 has it.
[[gnu::always_inline]] inline cudaError_t cudaGraphAddNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                                           const cudaGraphNode_t* before,
                                                           const cudaGraphEdgeData*, size_t count,
                                                           cudaGraphNodeParams* parameters) {
  return cudaGraphAddNode(node, graph, before, count, parameters);
}
/// For kernels.
[[gnu::always_inline]] inline void cudaGraphSetConditional(cudaGraphConditionalHandle condition,
                                                           unsigned value) {
  program::set_condition(condition, value);
}
/// As before CUDA 12.
[[gnu::always_inline]] inline cudaError_t cudaGraphInstantiate(cudaGraphExec_t* exec, cudaGraph_t graph,
                                                               cudaGraphNode_t*, char*, size_t) {
  return cudaGraphInstantiate(exec, graph);
}
[[gnu::always_inline]] inline cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t* exec,
                                                                        cudaGraph_t graph,
                                                                        unsigned long long flags = 0) {
  return cudaGraphInstantiate(exec, graph, flags);
}
/// As before CUDA 12.
[[gnu::always_inline]] inline cudaError_t cudaGraphExecUpdate(cudaGraphExec_t exec, cudaGraph_t graph,
                                                              cudaGraphNode_t*,
                                                              cudaGraphExecUpdateResult* result) {
  cudaGraphExecUpdateResultInfo info;
  const cudaError_t error = cudaGraphExecUpdate(exec, graph, &info);
  *result = info.result;
  return error;
}
inline cudaError_t cudaGraphUpload(cudaGraphExec_t, cudaStream_t) { return cudaSuccess; }
inline cudaError_t cudaDeviceGraphMemTrim(int) { return cudaSuccess; }
inline cudaError_t cudaMemPoolTrimTo(cudaMemPool_t, size_t) { return cudaSuccess; }
inline cudaError_t cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode*) { return cudaSuccess; }

#define WORKBOOK_UNSUPPORTED(name, why) \
  template <class... Types>             \
  __attribute__((unavailable("not supported: " why))) cudaError_t name(Types...);
#define WORKBOOK_NO_GRAPHS                                                                              \
  "of graphs there are captures and nodes for kernels, copies, memsets, host functions, memory, child " \
  "graphs and conditions"
WORKBOOK_UNSUPPORTED(cudaGraphDebugDotPrint, WORKBOOK_NO_GRAPHS)
WORKBOOK_UNSUPPORTED(cudaGraphInstantiateWithParams, WORKBOOK_NO_GRAPHS)
WORKBOOK_UNSUPPORTED(cudaGraphKernelNodeGetParams, WORKBOOK_NO_GRAPHS)
#undef WORKBOOK_NO_GRAPHS
enum { cudaIpcMemLazyEnablePeerAccess = 1 };
#define WORKBOOK_NO_IPC "memory and events that processes share"
typedef unsigned long long cudaIpcMemHandle_t __attribute__((unavailable("not supported: " WORKBOOK_NO_IPC)));
typedef unsigned long long cudaIpcEventHandle_t
    __attribute__((unavailable("not supported: " WORKBOOK_NO_IPC)));
WORKBOOK_UNSUPPORTED(cudaIpcGetMemHandle, WORKBOOK_NO_IPC)
WORKBOOK_UNSUPPORTED(cudaIpcOpenMemHandle, WORKBOOK_NO_IPC)
WORKBOOK_UNSUPPORTED(cudaIpcCloseMemHandle, WORKBOOK_NO_IPC)
WORKBOOK_UNSUPPORTED(cudaIpcGetEventHandle, WORKBOOK_NO_IPC)
WORKBOOK_UNSUPPORTED(cudaIpcOpenEventHandle, WORKBOOK_NO_IPC)
#undef WORKBOOK_NO_IPC
#undef WORKBOOK_UNSUPPORTED
