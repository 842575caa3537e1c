#include "cpu/block_barrier.hpp"

#include <fmt/format.h>

#include <utility>

#include "cpu/device.hpp"
#include "cpu/names.hpp"
#include "cpu/source_line.hpp"
#include "cpu/stop.hpp"

namespace cpu {

void BlockBarrier::release() {
  unsigned first = 0;
  while (threads_.state[first] != ThreadState::kAtBarrier) ++first;
  for (unsigned t = first; t < threads_.count(); ++t) {
    if (threads_.state[t] != ThreadState::kAtBarrier) continue;
    if (!same_line(threads_.waits_at[t], threads_.waits_at[first])) throw_divergent(first, t);
    threads_.state[t] = ThreadState::kReady;
  }
  vote_ = std::exchange(arrived_, {0, 0});
  device().block.last_barrier = threads_.waits_at[first];
  device().block.races.pass_barrier();
}

void BlockBarrier::throw_divergent(unsigned one, unsigned other) const {
  const auto line = [&](unsigned t) {
    return fmt::format("  {} waits at __syncthreads() at {}", thread_name(t),
                       place_text(threads_.waits_at[t]));
  };
  throw_finding({"barrier that not all threads reach", line(one) + "\n" + line(other),
                 "all threads of the block must reach the same __syncthreads(): is one inside an if?"});
}

}  // namespace cpu
