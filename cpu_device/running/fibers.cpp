#include "cpu_device/running/fibers.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <unordered_set>
#include <utility>

namespace cpu {
namespace {

constexpr std::size_t kGuardBytes = 4096;  // an unmapped page below each stack
// Stacks are one after the other, so without this their ends, which are in use, would all share a few sets of
// the caches: every eighth stack has the same size.
constexpr std::size_t kStagger = 512, kSizes = 8;
constexpr std::size_t kMappedBytes = kStackBytes + kStagger * kSizes;

}  // namespace

Fibers::Fibers(std::size_t most, std::function<void()> body) : body_(std::move(body)) {
  const std::size_t bytes = most * (kMappedBytes + kGuardBytes);
  void* base = mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (base == MAP_FAILED) throw std::runtime_error("the CPU device found no address space for its stacks");
  stacks_ = {reinterpret_cast<std::uintptr_t>(base), bytes};
}

Fibers::~Fibers() { munmap(reinterpret_cast<void*>(stacks_.begin), stacks_.size); }

Fiber* Fibers::take() {
  if (free_.empty()) return make();
  Fiber* fiber = free_.back();
  free_.pop_back();
  return fiber;
}

Fiber* Fibers::make() {
  const std::uintptr_t low = stacks_.begin + fibers_.size() * (kMappedBytes + kGuardBytes) + kGuardBytes;
  if (mprotect(reinterpret_cast<void*>(low), kMappedBytes, PROT_READ | PROT_WRITE) != 0)
    throw std::runtime_error("the CPU device found no memory for another stack");
  auto fiber = std::make_unique<Fiber>();
  fiber->stack = {low, kStackBytes + fibers_.size() % kSizes * kStagger};
  rewind(*fiber);
  fibers_.push_back(std::move(fiber));
  return fibers_.back().get();
}

void Fibers::rewind(Fiber& fiber) {
  fiber.context = boost::context::detail::make_fcontext(fiber.stack_top(), fiber.stack.size, fiber_main);
}

void Fibers::fiber_main(boost::context::detail::transfer_t from) {
  Fibers& self = came_from(from);
  for (;;) {
    self.body_();
    self.suspend();
  }
}

Fibers::Kept Fibers::keep(Fiber* fiber) {
  const auto* const begin = static_cast<const std::byte*>(fiber->context);
  Kept kept = {
      fiber, fiber->context, fiber->flow, {begin, static_cast<const std::byte*>(fiber->stack_top())}};
  rewind(*fiber);
  give_back(fiber);
  return kept;
}

void Fibers::restore(const std::vector<Kept>& fibers) {
  std::unordered_set<const Fiber*> held;
  for (const Kept& kept : fibers) {
    held.insert(kept.fiber);
    std::copy(kept.stack.begin(), kept.stack.end(), static_cast<std::byte*>(kept.context));
    kept.fiber->context = kept.context;
    kept.fiber->flow = kept.flow;
  }
  std::erase_if(free_, [&](const Fiber* fiber) { return held.contains(fiber); });
}

void Fibers::abandon() {
  free_.clear();
  for (const auto& fiber : fibers_) {
    rewind(*fiber);
    free_.push_back(fiber.get());
  }
}

}  // namespace cpu
