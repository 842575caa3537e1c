#include "gpu/graph.hpp"
#include "replay.hpp"

namespace gpu::test_kernels {

void replay(const std::function<void()>& work, int times, const std::function<void(int)>& before,
            const std::function<void(int)>& after) {
  const Graph graph(work);
  cudaGraphExec_t replay;
  check(cudaGraphInstantiate(&replay, graph, 0));
  for (int i = 0; i < times; ++i) {
    before(i);
    check(cudaGraphLaunch(replay, cudaStreamPerThread));
    check(cudaStreamSynchronize(cudaStreamPerThread));
    after(i);
  }
  check(cudaGraphExecDestroy(replay));
}

}  // namespace gpu::test_kernels
