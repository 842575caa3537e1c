#include "device.hpp"
#include "random_accesses.hpp"

namespace DEVICE::test_kernels {
namespace kernel {

__device__ Done load(const char* p, int size) {
  switch (size) {
    case 1:
      return *reinterpret_cast<const unsigned char*>(p);
    case 2:
      return *reinterpret_cast<const unsigned short*>(p);
    case 4:
      return *reinterpret_cast<const unsigned*>(p);
    case 8:
      return *reinterpret_cast<const unsigned long long*>(p);
    default: {
      const uint4 value = *reinterpret_cast<const uint4*>(p);
      return value.x + value.y + value.z + value.w;
    }
  }
}

__device__ void store(char* p, int size, int byte) {
  const unsigned long long value = 0x0101010101010101ull * byte;
  switch (size) {
    case 1:
      *reinterpret_cast<unsigned char*>(p) = value;
      break;
    case 2:
      *reinterpret_cast<unsigned short*>(p) = value;
      break;
    case 4:
      *reinterpret_cast<unsigned*>(p) = value;
      break;
    case 8:
      *reinterpret_cast<unsigned long long*>(p) = value;
      break;
    default: {
      const unsigned word = value;
      *reinterpret_cast<uint4*>(p) = make_uint4(word, word, word, word);
    }
  }
}

__global__ void random_accesses(RandomProgram program, char* array, Done* done) {
  __shared__ __align__(16) char s[kMostBytes];
  if (program.initialises >= 0) {
    if (static_cast<int>(threadIdx.x) == program.initialises)
      for (int i = 0; i < kMostBytes; i += 8) *reinterpret_cast<unsigned long long*>(s + i) = 0;
    __syncthreads();
  }
  const int actor = program.actor[blockIdx.x][threadIdx.x];
  unsigned ticket = 0;
  for (int segment = 0; segment < program.segments; ++segment) {
    if (segment > 0) __syncthreads();
    if (actor < 0) continue;
    for (int i = program.first[actor][segment]; i < program.first[actor][segment + 1]; ++i) {
      const RandomOperation& op = program.operations[i];
      char* const p = (op.shared ? s : array) + op.offset;
      Done result = 0;
      switch (op.does) {
        case Does::kLoad:
          result = load(p, op.size) & 0xff;
          break;
        case Does::kStore:
          store(p, op.size, op.value);
          break;
        case Does::kAtomic:
          ticket = atomicAdd(reinterpret_cast<unsigned*>(p), 1u);
          result = ticket;
          break;
        case Does::kFence:
          __threadfence();
          break;
        case Does::kFenceBlock:
          __threadfence_block();
          break;
        case Does::kSyncWarp:
          __syncwarp(op.mask);
          break;
        case Does::kShuffle:
          result = __shfl_sync(op.mask, static_cast<unsigned>(i), __ffs(op.mask) - 1);
          break;
        case Does::kBallot:
          result = __ballot_sync(op.mask, i & 1);
          break;
        case Does::kSkipUnless:
          result = ticket != op.value;
          break;
      }
      done[i] = 1 + result;
      if (op.does == Does::kSkipUnless && result) i += op.size;
    }
  }
}

}  // namespace kernel

void random_accesses(const RandomProgram& program, char* array, Done* done) {
  launch(kernel::random_accesses, program.blocks, program.threads, program, array, done);
}

}  // namespace DEVICE::test_kernels
