/// \file
/// One CUDA graph, replayed.
#pragma once

#include <functional>

namespace gpu::test_kernels {

/// Captures what `work` launches, and replays it `times` times: before replay i it calls before(i), and once
/// the replay has ended, after(i).
void replay(const std::function<void()>& work, int times, const std::function<void(int)>& before,
            const std::function<void(int)>& after);

}  // namespace gpu::test_kernels
