#include <fmt/format.h>

#include <algorithm>
#include <list>
#include <map>
#include <set>
#include <thread>
#include <utility>

#include "cpu_device/access.hpp"
#include "play/runtime/gpus.hpp"
#include "play/runtime/graphs.hpp"
#include "play/runtime/memory.hpp"

// Work is done in the order of the calls, so a stream has no state but its GPU and its capture.
struct CUstream_st {
  bool waits_for_default = true;
  int gpu = 0;                        ///< for which it was made
  int capture = 0;                    ///< the number of the last one that it belongs or belonged to
  std::vector<cudaGraphNode_t> last;  ///< of that capture: what the next call in the stream comes after
};
struct CUevent_st {
  int capture = 0;  ///< in which it was recorded
  std::vector<cudaGraphNode_t> last;
};

namespace program {
namespace {

struct Capture {
  cudaStream_t stream;  ///< that the program captures; others join it by events
  cudaGraph_t graph;
  cudaStreamCaptureMode mode;
  std::thread::id thread;        ///< that has begun it
  std::size_t nodes_before = 0;  ///< of the graph, where it is the program's
};

/// A handle stays valid when the program destroys it: work may still be waiting there.
struct Streams {
  CUstream_st default_stream, recorder;
  std::list<CUstream_st> others;
  std::list<CUevent_st> events;
  std::map<int, Capture> captures;  ///< that have not ended, by number
  int last_capture = 0;
};
Streams& streams() {  // also for calls before main; never destroyed, for those after it
  static auto& all = *new Streams;
  return all;
}

thread_local std::function<void()> recorded;  // in the recorder, by a call that takes it at once

cudaStream_t new_stream(bool waits_for_default) {
  const auto lock = lock_device();
  return &streams().others.emplace_back(
      CUstream_st{.waits_for_default = waits_for_default, .gpu = current_gpu(), .last = {}});
}

CUstream_st& stream_of_thread() {
  static thread_local const cudaStream_t stream = new_stream(true);
  return *stream;
}

CUstream_st& state_of(cudaStream_t stream) {
  return !stream || stream == cudaStreamLegacy ? streams().default_stream
         : stream == cudaStreamPerThread       ? stream_of_thread()
                                               : *stream;
}

Capture* capture_of(const CUstream_st& stream) {
  const auto lock = lock_device();
  const auto found = streams().captures.find(stream.capture);
  return found == streams().captures.end() ? nullptr : &found->second;
}

bool is_in_capture(cudaEvent_t event) {
  const auto lock = lock_device();
  return event && streams().captures.contains(event->capture);
}

/// A finding where `call` waits for work that is only captured.
void require_not_captured(const char* call, bool captured, const void* caller) {
  if (!captured) return;
  refuse_call("wait during a capture",
              fmt::format("{} waits for a stream that is being captured, where nothing runs yet", call),
              "can the program wait after cudaGraphLaunch instead?", caller);
}

/// The nodes that come before `last`, and those themselves.
std::set<cudaGraphNode_t> all_before(const std::vector<cudaGraphNode_t>& last) {
  std::set<cudaGraphNode_t> found;
  std::vector<cudaGraphNode_t> open = last;
  while (!open.empty()) {
    const cudaGraphNode_t node = open.back();
    open.pop_back();
    if (found.insert(node).second) open.insert(open.end(), node->before.begin(), node->before.end());
  }
  return found;
}

}  // namespace

bool is_captured(cudaStream_t stream) {
  return stream == &streams().recorder || capture_of(state_of(stream)) != nullptr;
}

void require_no_capture(const char* call, const char* look_at, const Place& place, bool relaxed_is_fine) {
  const auto lock = lock_device();
  if (std::any_of(streams().captures.begin(), streams().captures.end(), [&](const auto& one) {
        const Capture& capture = one.second;
        if (capture.thread != std::this_thread::get_id()) return capture.mode == cudaStreamCaptureModeGlobal;
        return !relaxed_is_fine || capture.mode != cudaStreamCaptureModeRelaxed;
      }))
    refuse_call("not possible during a capture",
                fmt::format("{} is called while a stream is being captured", call), look_at, place);
}

void require_default_stream(const char* call, const Place& place) {
  const auto lock = lock_device();
  if (std::none_of(streams().captures.begin(), streams().captures.end(),
                   [](const auto& one) { return one.second.stream->waits_for_default; }))
    return;
  refuse_call("default stream used during a capture",
              fmt::format("{} works in the default stream, which would have to wait for the stream that is "
                          "being captured",
                          call),
              "should it name the stream that is captured, or come before cudaStreamBeginCapture or after "
              "cudaStreamEndCapture?",
              place);
}

int gpu_of(cudaStream_t stream) {
  const bool is_default = !stream || stream == cudaStreamLegacy || stream == cudaStreamPerThread;
  return is_default || stream == &streams().recorder ? current_gpu() : stream->gpu;
}

namespace {

/// Keeps the work of a stream that is captured or recorded, and returns whether it is.
bool keep(cudaStream_t stream, cudaGraphNodeType type, std::function<void()>& work) {
  const auto lock = lock_device();
  if (stream == &streams().recorder) {
    recorded = std::move(work);
    return true;
  }
  CUstream_st& state = state_of(stream);
  const Capture* const capture = capture_of(state);
  if (capture) state.last = {add_node(*capture->graph, type, on_current_gpu(std::move(work)), state.last)};
  return capture;
}

}  // namespace

void enqueue(const char* call, cudaStream_t stream, cudaGraphNodeType type, std::function<void()> work,
             const Place& place) {
  if (type == cudaGraphNodeTypeKernel && gpu_of(stream) != current_gpu())
    refuse_call("stream of another GPU",
                fmt::format("{} is on GPU {}, and its stream was made for GPU {}", call, current_gpu(),
                            gpu_of(stream)),
                "should cudaSetDevice choose the stream's GPU before?", place);
  if (keep(stream, type, work)) return;
  if (&state_of(stream) == &streams().default_stream) require_default_stream(call, place);
  work();  // without the lock: it may wait for another thread of the user's
}

cudaStream_t recorder() { return &streams().recorder; }
std::function<void()> take_recorded() { return std::exchange(recorded, nullptr); }

}  // namespace program

using namespace program;

cudaError_t cudaStreamCreate(cudaStream_t* stream) { return cudaStreamCreateWithFlags(stream, 0); }
cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags) {
  *stream = new_stream(!(flags & cudaStreamNonBlocking));
  return cudaSuccess;
}
cudaError_t cudaStreamDestroy(cudaStream_t) { return cudaSuccess; }
cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  require_not_captured("cudaStreamSynchronize", is_captured(stream), CALLER);
  return cudaSuccess;
}
cudaError_t cudaStreamQuery(cudaStream_t stream) {
  require_not_captured("cudaStreamQuery", is_captured(stream), CALLER);
  return cudaSuccess;
}
cudaError_t cudaDeviceSynchronize() {
  const auto lock = lock_device();
  require_not_captured("cudaDeviceSynchronize", !streams().captures.empty(), CALLER);
  return cudaSuccess;
}
cudaError_t cudaEventCreate(cudaEvent_t* event) {
  const auto lock = lock_device();
  *event = &streams().events.emplace_back();
  return cudaSuccess;
}
cudaError_t cudaEventDestroy(cudaEvent_t) { return cudaSuccess; }
cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t, cudaEvent_t) {
  *milliseconds = 0;
  return cudaSuccess;
}
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  if (!event) return cudaErrorInvalidResourceHandle;
  const CUstream_st& state = state_of(stream);
  event->capture = capture_of(state) ? state.capture : 0;
  event->last = state.last;
  return cudaSuccess;
}
/// By an event of a capture, the stream joins it.
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned) {
  if (!event) return cudaErrorInvalidResourceHandle;
  if (!is_in_capture(event)) return cudaSuccess;
  CUstream_st& state = state_of(stream);
  if (state.capture != event->capture) state.last.clear();
  state.capture = event->capture;
  for (const cudaGraphNode_t node : event->last)
    if (std::find(state.last.begin(), state.last.end(), node) == state.last.end()) state.last.push_back(node);
  return cudaSuccess;
}
cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  require_not_captured("cudaEventSynchronize", is_in_capture(event), CALLER);
  return cudaSuccess;
}
cudaError_t cudaEventQuery(cudaEvent_t) { return cudaSuccess; }

/// Begins to capture a stream into that graph, or into a new one.
static cudaError_t begin_capture(const char* call, cudaStream_t stream, cudaGraph_t graph,
                                 cudaStreamCaptureMode mode, const void* caller) {
  const auto lock = lock_device();
  CUstream_st& state = state_of(stream);
  if (&state == &streams().default_stream || capture_of(state))
    refuse_call("wrong begin of a capture",
                fmt::format("{} gets {}", call,
                            capture_of(state) ? "a stream that is being captured already"
                                              : "the default stream, which cannot be captured"),
                "does each capture have a stream from cudaStreamCreate, and an end?", caller);
  state.capture = ++streams().last_capture;
  state.last.clear();
  const std::size_t nodes_before = graph ? graph->nodes.size() : 0;
  streams().captures[state.capture] = {&state, graph ? graph : new_graph(), mode, std::this_thread::get_id(),
                                       nodes_before};
  return cudaSuccess;
}
cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode mode) {
  return begin_capture("cudaStreamBeginCapture", stream, nullptr, mode, CALLER);
}
cudaError_t cudaStreamBeginCaptureToGraph(cudaStream_t stream, cudaGraph_t graph,
                                          const cudaGraphNode_t* before, const cudaGraphEdgeData*,
                                          size_t count, cudaStreamCaptureMode mode) {
  const char* const call = "cudaStreamBeginCaptureToGraph";
  require_graph(call, graph, CALLER);
  const cudaError_t error = begin_capture(call, stream, graph, mode, CALLER);
  state_of(stream).last.assign(before, before + count);
  return error;
}
cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph) {
  const auto lock = lock_device();
  CUstream_st& state = state_of(stream);
  const Capture* capture = capture_of(state);
  if (!capture || capture->stream != &state)
    refuse_call("wrong end of a capture",
                "cudaStreamEndCapture gets a stream for which no cudaStreamBeginCapture was called",
                "is it the stream that the capture began with?", CALLER);
  if (graph) *graph = capture->graph;
  const auto& nodes = capture->graph->nodes;
  const std::set<cudaGraphNode_t> waited_for = all_before(state.last);
  if (!std::all_of(nodes.begin() + static_cast<std::ptrdiff_t>(capture->nodes_before), nodes.end(),
                   [&](const auto& node) { return waited_for.contains(node.get()); }))
    refuse_call(
        "wrong end of a capture",
        "another stream has joined the capture, and the captured stream does not wait for its last work",
        "record an event in that stream after its last call, and let the captured stream wait for it "
        "with cudaStreamWaitEvent",
        CALLER);
  streams().captures.erase(state.capture);
  return cudaSuccess;
}
cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus* status) {
  return cudaStreamGetCaptureInfo(stream, status);
}
cudaError_t cudaStreamGetCaptureInfo(cudaStream_t stream, cudaStreamCaptureStatus* status,
                                     unsigned long long* id) {
  const CUstream_st& state = state_of(stream);
  const bool captured = capture_of(state) != nullptr;
  *status = captured ? cudaStreamCaptureStatusActive : cudaStreamCaptureStatusNone;
  if (id && captured) *id = static_cast<unsigned long long>(state.capture);
  return cudaSuccess;
}
cudaError_t cudaStreamGetCaptureInfo(cudaStream_t stream, cudaStreamCaptureStatus* status,
                                     unsigned long long* id, cudaGraph_t* graph,
                                     const cudaGraphNode_t** before, size_t* count) {
  const CUstream_st& state = state_of(stream);
  const Capture* const capture = capture_of(state);
  if (capture && graph) *graph = capture->graph;
  if (capture && before) *before = state.last.data();
  if (capture && count) *count = state.last.size();
  return cudaStreamGetCaptureInfo(stream, status, id);
}
cudaError_t cudaStreamUpdateCaptureDependencies(cudaStream_t stream, cudaGraphNode_t* nodes, size_t count,
                                                unsigned flags) {
  CUstream_st& state = state_of(stream);
  if (!capture_of(state)) return cudaErrorInvalidValue;
  const std::vector<cudaGraphNode_t> added(nodes, nodes + count);  // `nodes` may be those of state.last
  if (flags & cudaStreamSetCaptureDependencies) state.last.clear();
  state.last.insert(state.last.end(), added.begin(), added.end());
  return cudaSuccess;
}
cudaError_t cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t call, void* data, unsigned) {
  if (is_captured(stream))
    refuse_call("callback during a capture", "cudaStreamAddCallback gets a stream that is being captured",
                "use cudaLaunchHostFunc, which can be captured", CALLER);
  call(stream, cudaSuccess, data);
  return cudaSuccess;
}
cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t call, void* data) {
  enqueue(
      "cudaLaunchHostFunc", stream, cudaGraphNodeTypeHost, [=] { call(data); }, CALLER);
  return cudaSuccess;
}
