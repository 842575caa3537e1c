#include "play/runtime/graphs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <map>
#include <optional>
#include <utility>

#include "cpu_device/access.hpp"
#include "cpu_device/running_thread.hpp"
#include "play/runtime/gpus.hpp"
#include "play/runtime/memory.hpp"
#include "system/plural.hpp"

struct CUgraphExec_st {
  struct Step {
    cudaGraphNode_t node;  ///< in the graph that was instantiated: the step's name
    cudaGraphNodeType type;
    std::size_t before;  ///< how many nodes this one waits for
    std::function<void()> work;
  };
  std::vector<Step> steps;      ///< in the order in which they run
  cudaGraph_t graph = nullptr;  ///< that was instantiated
};

namespace program {
namespace {

using Step = CUgraphExec_st::Step;

/// What kernels set for conditional nodes.
struct Condition {
  cudaGraph_t graph;
  unsigned value;
  std::optional<unsigned> first;  ///< that it gets at each launch of the graph
};
// The containers here are never destroyed, for calls after main.
auto& conditions = *new std::deque<Condition>;                 ///< by handle, from 1 on
auto& graph_around = *new std::map<cudaGraph_t, cudaGraph_t>;  ///< a conditional node's body
std::size_t conditions_set = 0;

Condition& condition_of(const char* call, cudaGraphConditionalHandle condition, const Place& place) {
  const auto lock = lock_device();
  if (condition == 0 || condition > conditions.size())
    refuse_call("unknown condition", fmt::format("{} gets a handle that is no condition's", call),
                "is it from cudaGraphConditionalHandleCreate?", place);
  return conditions[condition - 1];
}

// Those that the program has not destroyed.
auto& graphs = *new std::map<cudaGraph_t, std::unique_ptr<CUgraph_st>>;
auto& execs = *new std::map<cudaGraphExec_t, std::unique_ptr<CUgraphExec_st>>;

std::map<const void*, Starter>& starters() {  // also for addresses that are taken before main
  static auto& all = *new std::map<const void*, Starter>;
  return all;
}

CUgraphExec_st& exec_of(const char* call, cudaGraphExec_t exec, const void* caller) {
  const auto lock = lock_device();
  if (!execs.contains(exec))
    refuse_call("unknown graph", fmt::format("{} gets a graph that is not instantiated, or destroyed", call),
                "is it from cudaGraphInstantiate, and destroyed after this?", caller);
  return *exec;
}

/// The nodes in an order in which each comes after those that it waits for, and in the order of their calls
/// where that leaves a choice.
std::vector<Step> steps_of(const char* call, cudaGraph_t graph, const void* caller) {
  require_graph(call, graph, caller);
  std::vector<Step> steps;
  const auto has_run = [&](cudaGraphNode_t node) {
    return std::any_of(steps.begin(), steps.end(), [&](const Step& step) { return step.node == node; });
  };
  while (steps.size() < graph->nodes.size()) {
    const auto next = std::find_if(graph->nodes.begin(), graph->nodes.end(), [&](const auto& node) {
      return !has_run(node.get()) && std::all_of(node->before.begin(), node->before.end(), has_run);
    });
    if (next == graph->nodes.end())
      refuse_call("nodes that wait for each other",
                  fmt::format("{} gets a graph whose dependencies form a circle", call),
                  "which call of cudaGraphAddDependencies closes it?", caller);
    const CUgraphNode_st& node = **next;
    steps.push_back({next->get(), node.type, node.before.size(), node.work});
  }
  return steps;
}

/// A finding where a conditional node cannot have so many graphs.
void require_size(const cudaConditionalNodeParams& node, const Place& place) {
  const unsigned most = node.type == cudaGraphCondTypeWhile ? 1 : node.type == cudaGraphCondTypeIf ? 2 : ~0u;
  if (node.size == 0 || node.size > most)
    refuse_call(
        "wrong size of a conditional node",
        fmt::format("cudaGraphAddNode gets a conditional node with {}", workbook::plural(node.size, "graph")),
        "cudaGraphCondTypeWhile has one graph, cudaGraphCondTypeIf one or two, and cudaGraphCondTypeSwitch "
        "one or more",
        place);
}

void run_steps(const std::vector<Step>& steps) {
  for (const Step& step : steps) step.work();
}

/// Runs the graphs of a conditional node, as they are now, as its condition says.
void run_conditional(const cudaConditionalNodeParams& node, const std::vector<cudaGraph_t>& bodies,
                     const void* caller) {
  const char* const call = "cudaGraphLaunch";
  const auto run_body = [&](std::size_t body) {
    if (body < bodies.size()) run_steps(steps_of(call, bodies[body], caller));
  };
  const auto value = [&] {
    const auto lock = lock_device();
    return condition_of(call, node.handle, caller).value;
  };
  switch (node.type) {
    case cudaGraphCondTypeIf:
      return run_body(value() ? 0 : 1);
    case cudaGraphCondTypeWhile:
      while (value()) run_body(0);
      return;
    case cudaGraphCondTypeSwitch:
      return run_body(value());
  }
}

/// For a launch of the graph: also those of its bodies, and of bodies in these.
void set_first_values(cudaGraph_t graph) {
  const auto lock = lock_device();
  const auto outermost = [](cudaGraph_t body) {
    for (auto around = graph_around.find(body); around != graph_around.end();
         around = graph_around.find(body))
      body = around->second;
    return body;
  };
  for (Condition& condition : conditions)
    if (condition.first && outermost(condition.graph) == graph) condition.value = *condition.first;
}

/// Gives a step of a graph other work.
cudaError_t set(const char* call, cudaGraphExec_t exec, cudaGraphNode_t node, std::function<void()> work,
                const void* caller) {
  std::vector<Step>& steps = exec_of(call, exec, caller).steps;
  const auto step = std::find_if(steps.begin(), steps.end(), [&](const Step& s) { return s.node == node; });
  if (step == steps.end())
    refuse_call("unknown node", fmt::format("{} gets a node of another graph", call),
                "is it a node of the graph that cudaGraphInstantiate got?", caller);
  step->work = std::move(work);
  return cudaSuccess;
}

cudaError_t list_nodes(const std::vector<cudaGraphNode_t>& found, cudaGraphNode_t* nodes,
                       std::size_t* count) {
  if (nodes) std::copy_n(found.begin(), std::min(*count, found.size()), nodes);
  *count = nodes ? std::min(*count, found.size()) : found.size();
  return cudaSuccess;
}

std::function<void()> copy_work(const char* call, const cudaMemcpy3DParms& copy, const void* caller) {
  return on_current_gpu([=] { copy_box(call, copy, caller); });
}
std::function<void()> copy_work(const char* call, void* to, const void* from, std::size_t bytes,
                                cudaMemcpyKind kind, const void* caller) {
  return on_current_gpu([=] { copy_bytes(call, to, from, bytes, kind, caller); });
}
std::function<void()> fill_work(const char* call, const cudaMemsetParams& fill, const void* caller) {
  return on_current_gpu([=] { fill_rows(call, fill, caller); });
}
std::function<void()> host_work(const cudaHostNodeParams& call) {
  return [call] { call.fn(call.userData); };
}

}  // namespace

void require_graph(const char* call, cudaGraph_t graph, const Place& place) {
  const auto lock = lock_device();
  if (!graphs.contains(graph))
    refuse_call("unknown graph", fmt::format("{} gets a graph that is not made, or destroyed", call),
                "is the graph from cudaGraphCreate or cudaStreamEndCapture, and destroyed after this?",
                place);
}

cudaGraph_t new_graph() {
  auto graph = std::make_unique<CUgraph_st>();
  const cudaGraph_t handle = graph.get();
  const auto lock = use_device("a graph");
  graphs[handle] = std::move(graph);
  return handle;
}

cudaGraphNode_t add_node(CUgraph_st& graph, cudaGraphNodeType type, std::function<void()> work,
                         std::vector<cudaGraphNode_t> before) {
  graph.nodes.push_back(std::make_unique<CUgraphNode_st>(
      CUgraphNode_st{.type = type, .work = std::move(work), .before = std::move(before)}));
  return graph.nodes.back().get();
}

cudaError_t add_checked(const char* call, cudaGraphNode_t* node, cudaGraph_t graph,
                        const cudaGraphNode_t* before, std::size_t count, cudaGraphNodeType type,
                        std::function<void()> work, const Place& place) {
  require_graph(call, graph, place);
  *node = add_node(*graph, type, std::move(work), {before, before + count});
  return cudaSuccess;
}

void set_condition(cudaGraphConditionalHandle condition, unsigned value) {
  cpu::need_block_order();
  ++conditions_set;
  condition_of("cudaGraphSetConditional", condition, CALLER).value = value;
}
std::size_t condition_changes() { return conditions_set; }

void add_starter(const void* kernel, Starter starter) {
  const auto lock = lock_device();
  starters()[kernel] = starter;
}

Starter starter_of(const void* kernel, void** extra, const char* call) {
  const auto lock = lock_device();
  const auto found = starters().find(kernel);
  if (found == starters().end())
    refuse_call("unknown kernel", fmt::format("{} gets an address that is no kernel's", call),
                "is it written as (void*)kernel, with the kernel's name?", CALLER);
  if (extra)
    refuse_call("not supported", fmt::format("{} gets the kernel's arguments in `extra`", call),
                "give their addresses in `kernelParams`", CALLER);
  return found->second;
}

void refuse_node(cudaGraphNodeType type) {
  refuse_call("not supported", fmt::format("cudaGraphAddNode gets a node of type {}", static_cast<int>(type)),
              "nodes for kernels, copies, memsets, host functions, memory, child graphs and conditions "
              "are there",
              CALLER);
}

cudaError_t add_recorded(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* before,
                         size_t count) {
  return add_checked("cudaGraphAddKernelNode", node, graph, before, count, cudaGraphNodeTypeKernel,
                     take_recorded(), CALLER);
}
cudaError_t set_recorded(cudaGraphNode_t node) {
  node->work = take_recorded();
  return cudaSuccess;
}
cudaError_t set_recorded(cudaGraphExec_t exec, cudaGraphNode_t node) {
  return set("cudaGraphExecKernelNodeSetParams", exec, node, take_recorded(), CALLER);
}

}  // namespace program

using namespace program;

cudaError_t cudaGraphCreate(cudaGraph_t* graph, unsigned) {
  *graph = new_graph();
  return cudaSuccess;
}
cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  require_graph("cudaGraphDestroy", graph, CALLER);
  const auto lock = lock_device();
  graphs.erase(graph);
  return cudaSuccess;
}
cudaError_t cudaGraphClone(cudaGraph_t* clone, cudaGraph_t graph) {
  require_graph("cudaGraphClone", graph, CALLER);
  *clone = new_graph();
  std::map<cudaGraphNode_t, cudaGraphNode_t> copies;
  for (const auto& node : graph->nodes) {
    copies[node.get()] = add_node(**clone, node->type, node->work, node->before);
    copies[node.get()]->original = node.get();
  }
  for (const auto& copy : (*clone)->nodes)
    for (cudaGraphNode_t& before : copy->before) before = copies.at(before);
  return cudaSuccess;
}
cudaError_t cudaGraphNodeFindInClone(cudaGraphNode_t* node, cudaGraphNode_t original, cudaGraph_t clone) {
  require_graph("cudaGraphNodeFindInClone", clone, CALLER);
  for (const auto& one : clone->nodes)
    if (one->original == original) return *node = one.get(), cudaSuccess;
  return cudaErrorInvalidValue;
}
cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t* nodes, size_t* count) {
  require_graph("cudaGraphGetNodes", graph, CALLER);
  std::vector<cudaGraphNode_t> found;
  for (const auto& node : graph->nodes) found.push_back(node.get());
  return list_nodes(found, nodes, count);
}
cudaError_t cudaGraphGetRootNodes(cudaGraph_t graph, cudaGraphNode_t* nodes, size_t* count) {
  require_graph("cudaGraphGetRootNodes", graph, CALLER);
  std::vector<cudaGraphNode_t> found;
  for (const auto& node : graph->nodes)
    if (node->before.empty()) found.push_back(node.get());
  return list_nodes(found, nodes, count);
}
cudaError_t cudaGraphNodeGetType(cudaGraphNode_t node, cudaGraphNodeType* type) {
  *type = node->type;
  return cudaSuccess;
}
cudaError_t cudaGraphAddDependencies(cudaGraph_t, const cudaGraphNode_t* from, const cudaGraphNode_t* to,
                                     size_t count) {
  for (size_t i = 0; i < count; ++i) to[i]->before.push_back(from[i]);
  return cudaSuccess;
}
cudaError_t cudaGraphAddEmptyNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* before,
                                  size_t count) {
  return add_checked(
      "cudaGraphAddEmptyNode", node, graph, before, count, cudaGraphNodeTypeEmpty, [] {}, CALLER);
}
cudaError_t cudaGraphAddMemcpyNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* before,
                                   size_t count, const cudaMemcpy3DParms* copy) {
  const char* const call = "cudaGraphAddMemcpyNode";
  return add_checked(call, node, graph, before, count, cudaGraphNodeTypeMemcpy,
                     copy_work(call, *copy, CALLER), CALLER);
}
cudaError_t cudaGraphAddMemcpyNode1D(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* before,
                                     size_t count, void* to, const void* from, size_t bytes,
                                     cudaMemcpyKind kind) {
  const char* const call = "cudaGraphAddMemcpyNode1D";
  return add_checked(call, node, graph, before, count, cudaGraphNodeTypeMemcpy,
                     copy_work(call, to, from, bytes, kind, CALLER), CALLER);
}
cudaError_t cudaGraphAddMemsetNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* before,
                                   size_t count, const cudaMemsetParams* fill) {
  const char* const call = "cudaGraphAddMemsetNode";
  return add_checked(call, node, graph, before, count, cudaGraphNodeTypeMemset,
                     fill_work(call, *fill, CALLER), CALLER);
}
cudaError_t cudaGraphAddHostNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* before,
                                 size_t count, const cudaHostNodeParams* call) {
  return add_checked("cudaGraphAddHostNode", node, graph, before, count, cudaGraphNodeTypeHost,
                     host_work(*call), CALLER);
}
cudaError_t cudaGraphAddChildGraphNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                       const cudaGraphNode_t* before, size_t count, cudaGraph_t child) {
  const char* const call = "cudaGraphAddChildGraphNode";
  return add_checked(
      call, node, graph, before, count, cudaGraphNodeTypeGraph,
      [steps = steps_of(call, child, CALLER)] { run_steps(steps); }, CALLER);
}

cudaError_t cudaGraphConditionalHandleCreate(cudaGraphConditionalHandle* condition, cudaGraph_t graph,
                                             unsigned value, unsigned flags) {
  require_graph("cudaGraphConditionalHandleCreate", graph, CALLER);
  const bool assigns = flags & cudaGraphCondAssignDefault;
  const auto lock = lock_device();
  conditions.push_back({graph, value, assigns ? std::optional(value) : std::nullopt});
  *condition = conditions.size();
  return cudaSuccess;
}
cudaError_t cudaGraphAddConditionalNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                        const cudaGraphNode_t* before, size_t count,
                                        cudaConditionalNodeParams* conditional) {
  const auto lock = lock_device();
  condition_of("cudaGraphAddNode", conditional->handle, CALLER);
  require_size(*conditional, CALLER);
  const auto bodies = std::make_shared<std::vector<cudaGraph_t>>();
  for (unsigned i = 0; i < conditional->size; ++i) {
    bodies->push_back(new_graph());
    graph_around[bodies->back()] = graph;
  }
  conditional->phGraph_out = bodies->data();
  return add_checked(
      "cudaGraphAddNode", node, graph, before, count, cudaGraphNodeTypeConditional,
      [parameters = *conditional, bodies, caller = CALLER] { run_conditional(parameters, *bodies, caller); },
      CALLER);
}

cudaError_t cudaGraphInstantiate(cudaGraphExec_t* exec, cudaGraph_t graph, unsigned long long) {
  auto made = std::make_unique<CUgraphExec_st>();
  made->steps = steps_of("cudaGraphInstantiate", graph, CALLER);
  made->graph = graph;
  *exec = made.get();
  const auto lock = lock_device();
  execs[*exec] = std::move(made);
  return cudaSuccess;
}
cudaError_t cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t stream) {
  const CUgraphExec_st& launched = exec_of("cudaGraphLaunch", exec, CALLER);
  const auto run = [steps = launched.steps, graph = launched.graph] {
    set_first_values(graph);
    run_steps(steps);
  };
  enqueue("cudaGraphLaunch", stream, cudaGraphNodeTypeGraph, run, CALLER);
  return cudaSuccess;
}
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t exec) {
  exec_of("cudaGraphExecDestroy", exec, CALLER);
  const auto lock = lock_device();
  execs.erase(exec);
  return cudaSuccess;
}
cudaError_t cudaGraphExecUpdate(cudaGraphExec_t exec, cudaGraph_t graph,
                                cudaGraphExecUpdateResultInfo* info) {
  const char* const call = "cudaGraphExecUpdate";
  std::vector<Step>& steps = exec_of(call, exec, CALLER).steps;
  const std::vector<Step> others = steps_of(call, graph, CALLER);
  *info = {cudaGraphExecUpdateErrorTopologyChanged, nullptr, nullptr};
  if (!std::equal(steps.begin(), steps.end(), others.begin(), others.end(),
                  [](const Step& a, const Step& b) { return a.type == b.type && a.before == b.before; }))
    return cudaErrorGraphExecUpdateFailure;
  for (size_t i = 0; i < steps.size(); ++i) steps[i].work = others[i].work;
  info->result = cudaGraphExecUpdateSuccess;
  return cudaSuccess;
}
cudaError_t cudaGraphExecMemcpyNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                             const cudaMemcpy3DParms* copy) {
  const char* const call = "cudaGraphExecMemcpyNodeSetParams";
  return set(call, exec, node, copy_work(call, *copy, CALLER), CALLER);
}
cudaError_t cudaGraphExecMemcpyNodeSetParams1D(cudaGraphExec_t exec, cudaGraphNode_t node, void* to,
                                               const void* from, size_t bytes, cudaMemcpyKind kind) {
  const char* const call = "cudaGraphExecMemcpyNodeSetParams1D";
  return set(call, exec, node, copy_work(call, to, from, bytes, kind, CALLER), CALLER);
}
cudaError_t cudaGraphExecMemsetNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                             const cudaMemsetParams* fill) {
  const char* const call = "cudaGraphExecMemsetNodeSetParams";
  return set(call, exec, node, fill_work(call, *fill, CALLER), CALLER);
}
cudaError_t cudaGraphExecHostNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                           const cudaHostNodeParams* call) {
  return set("cudaGraphExecHostNodeSetParams", exec, node, host_work(*call), CALLER);
}
