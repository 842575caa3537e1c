/// \file
/// Streams of a program, and what is captured from them.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "play/program/graphs.hpp"
#include "play/runtime/memory.hpp"

struct CUgraphNode_st {
  cudaGraphNodeType type;
  std::function<void()> work;
  std::vector<cudaGraphNode_t> before;  ///< those that must have run
  cudaGraphNode_t original = nullptr;   ///< of a node in a clone
};
struct CUgraph_st {
  std::vector<std::unique_ptr<CUgraphNode_st>> nodes;
};

namespace program {

/// Makes a graph that the program destroys.
cudaGraph_t new_graph();
/// Ends the program with a message unless the graph is one that has not been destroyed.
void require_graph(const char* call, cudaGraph_t graph, const Place& place);
cudaGraphNode_t add_node(CUgraph_st& graph, cudaGraphNodeType type, std::function<void()> work,
                         std::vector<cudaGraphNode_t> before);

/// For a function of the runtime that adds a node.
cudaError_t add_checked(const char* call, cudaGraphNode_t* node, cudaGraph_t graph,
                        const cudaGraphNode_t* before, std::size_t count, cudaGraphNodeType type,
                        std::function<void()> work, const Place& place);

/// Does `work` of `call` at once. While `stream` is captured, makes it a node of the graph instead. A call in
/// the default stream during a capture is a finding.
void enqueue(const char* call, cudaStream_t stream, cudaGraphNodeType type, std::function<void()> work,
             const Place& place);
/// Whether `enqueue` will keep the work.
bool is_captured(cudaStream_t stream);
/// The same finding for a call that always works in the default stream.
void require_default_stream(const char* call, const Place& place);
/// A finding where `call` cannot be used while a stream is captured.
void require_no_capture(const char* call, const char* look_at, const Place& place,
                        bool relaxed_is_fine = false);
/// The last work that the recorder (program/graphs.hpp) was given.
std::function<void()> take_recorded();

}  // namespace program
