/// \file
/// CUDA events, and what a stage launches as a CUDA graph.
#pragma once

#include <functional>
#include <vector>

#include "gpu/current_gpu.hpp"
#include "gpu/error.hpp"

namespace gpu {

/// A CUDA event that belongs to one owner.
class Event {
 public:
  Event() { check(cudaEventCreate(&event_), "cudaEventCreate"); }
  ~Event() { cudaEventDestroy(event_); }
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
  operator cudaEvent_t() const { return event_; }

 private:
  cudaEvent_t event_;
};

/// Everything that `work` launches, as a graph that has not run.
class Graph {
 public:
  explicit Graph(const std::function<void()>& work) {
    check(cudaStreamBeginCapture(cudaStreamPerThread, cudaStreamCaptureModeThreadLocal),
          "cudaStreamBeginCapture");
    try {
      work();
      join_gpus();
    } catch (...) {
      cudaStreamEndCapture(cudaStreamPerThread, &graph_);
      if (graph_) cudaGraphDestroy(graph_);
      cudaGetLastError();  // The capture's own error: the next launch must not find it.
      throw;
    }
    check(cudaStreamEndCapture(cudaStreamPerThread, &graph_), "cudaStreamEndCapture");
  }
  ~Graph() { cudaGraphDestroy(graph_); }
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;
  operator cudaGraph_t() const { return graph_; }

  /// The nodes that are kernels.
  std::vector<cudaGraphNode_t> kernels() const {
    std::size_t count = 0;
    check(cudaGraphGetNodes(graph_, nullptr, &count), "cudaGraphGetNodes");
    std::vector<cudaGraphNode_t> nodes(count);
    check(cudaGraphGetNodes(graph_, nodes.data(), &count), "cudaGraphGetNodes");
    std::erase_if(nodes, [](cudaGraphNode_t node) {
      cudaGraphNodeType type;
      check(cudaGraphNodeGetType(node, &type), "cudaGraphNodeGetType");
      return type != cudaGraphNodeTypeKernel;
    });
    return nodes;
  }

 private:
  cudaGraph_t graph_ = nullptr;
};

}  // namespace gpu
