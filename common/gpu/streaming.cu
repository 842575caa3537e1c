#include <algorithm>
#include <memory>
#include <stdexcept>

#include "gpu/buffer.hpp"
#include "gpu/launch.hpp"
#include "gpu/streaming.hpp"

namespace gpu {
namespace {

using workbook::Contender;
using workbook::Stream;

constexpr int kMostReads = 5, kMostWrites = 2;

/// `arrays` arrays of `count` vectors each, which start `stride` vectors apart.
struct Arrays {
  float4* data;
  size_t stride;
};

template <bool EvictFirst>
__device__ float4 load(const float4* from) {
  return EvictFirst ? __ldcs(from) : *from;
}
template <bool EvictFirst>
__device__ void store(float4* to, float4 value) {
  if (EvictFirst)
    __stcs(to, value);
  else
    *to = value;
}

/// Each array of `out` becomes the sum of the arrays of `in`, 16 bytes at a time: nothing but reads and
/// writes. A block takes tiles of `Each` vectors per thread, and a thread starts all loads of a tile before
/// it adds.
template <int Reads, int Writes, int Each, bool EvictFirst>
__global__ void stream_tiles(Arrays in, Arrays out, int count, int tiles) {
  for (int tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
    const int first = tile * Each * static_cast<int>(blockDim.x) + static_cast<int>(threadIdx.x);
    float4 values[Each][Reads];
#pragma unroll
    for (int e = 0; e < Each; ++e)
#pragma unroll
      for (int r = 0; r < Reads; ++r) {
        const int i = first + e * static_cast<int>(blockDim.x);
        if (i < count) values[e][r] = load<EvictFirst>(in.data + r * in.stride + i);
      }
#pragma unroll
    for (int e = 0; e < Each; ++e) {
      const int i = first + e * static_cast<int>(blockDim.x);
      if (i >= count) break;
      float4 sum = values[e][0];
#pragma unroll
      for (int r = 1; r < Reads; ++r) {
        sum.x += values[e][r].x;
        sum.y += values[e][r].y;
        sum.z += values[e][r].z;
        sum.w += values[e][r].w;
      }
#pragma unroll
      for (int w = 0; w < Writes; ++w) store<EvictFirst>(out.data + w * out.stride + i, sum);
      // Without writes the sums must still be wanted, or the compiler would drop the loads. They are never
      // NaN.
      const float all = sum.x + sum.y + sum.z + sum.w;
      if (Writes == 0 && all != all) *out.data = sum;
    }
  }
}

using StreamKernel = void (*)(Arrays, Arrays, int, int);

template <int Reads, int Each, bool EvictFirst>
StreamKernel with_writes(int writes) {
  static constexpr StreamKernel kKernels[] = {stream_tiles<Reads, 0, Each, EvictFirst>,
                                              stream_tiles<Reads, 1, Each, EvictFirst>,
                                              stream_tiles<Reads, 2, Each, EvictFirst>};
  return kKernels[writes];
}

template <int Each, bool EvictFirst>
StreamKernel stream_kernel(int reads, int writes) {
  static constexpr StreamKernel (*kWithReads[])(int) = {
      with_writes<1, Each, EvictFirst>, with_writes<2, Each, EvictFirst>, with_writes<3, Each, EvictFirst>,
      with_writes<4, Each, EvictFirst>, with_writes<5, Each, EvictFirst>};
  return kWithReads[reads - 1](writes);
}

/// A way to stream: which is the fastest depends on the mix, the size and the card.
struct Way {
  const char* name;
  StreamKernel (*kernel)(int reads, int writes);
  int each;  // vectors per thread
  int threads;
  bool persistent;  // only the blocks that fit at once, each with several tiles
};
constexpr Way kWays[] = {
    {"16 bytes per thread, blocks of 256", stream_kernel<1, false>, 1, 256, false},
    {"16 bytes per thread, blocks of 512", stream_kernel<1, false>, 1, 512, false},
    {"16 bytes per thread, blocks of 512, evict first", stream_kernel<1, true>, 1, 512, false},
    {"16 bytes per thread, blocks of 768", stream_kernel<1, false>, 1, 768, false},
    {"32 bytes per thread, blocks of 256", stream_kernel<2, false>, 2, 256, false},
    {"64 bytes per thread, blocks of 256", stream_kernel<4, false>, 4, 256, false},
    {"64 bytes per thread, blocks of 256, evict first", stream_kernel<4, true>, 4, 256, false},
    {"64 bytes per thread, persistent blocks of 256", stream_kernel<4, false>, 4, 256, true},
};

/// A pseudo-random number from -1 to 1 for each i (C. Wellons' hash "lowbias32", public domain).
__device__ float random_number(unsigned i) {
  i = (i ^ i >> 16) * 0x7feb352du;
  i = (i ^ i >> 15) * 0x846ca68bu;
  return static_cast<float>(static_cast<int>(i ^ i >> 16)) * 0x1p-31f;
}

__global__ void fill_random(float4* data, size_t count) {
  for (size_t i = size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count;
       i += size_t{gridDim.x} * blockDim.x) {
    const unsigned first = static_cast<unsigned>(4 * i);
    data[i] = {random_number(first), random_number(first + 1), random_number(first + 2),
               random_number(first + 3)};
  }
}

/// Where the arrays of a stream are: as far apart as cudaMalloc would place a chapter's arrays with their
/// guards, since the distance decides which parts of the memory are busy at the same time.
struct Layout {
  int vectors;    // of one array
  size_t stride;  // of arrays, in vectors
  size_t sets;    // so many that they do not fit in the L2 cache
  size_t set_bytes;

  Layout(const Stream& stream, size_t l2_bytes) {
    constexpr size_t kMostSets = 128, kGuards = 2 * 4096, kLarge = size_t{2} << 20, kSmall = 512;
    vectors = static_cast<int>(std::max(stream.count / 4, 1LL));
    const size_t bytes = vectors * sizeof(float4), unit = bytes + kGuards < kLarge ? kSmall : kLarge;
    stride = (bytes + kGuards + unit - 1) / unit * unit / sizeof(float4);
    set_bytes = bytes * static_cast<size_t>(stream.reads + stream.writes);
    sets = std::min(3 * l2_bytes / set_bytes + 1, kMostSets);
  }
  /// Vectors of all sets, of that many arrays each.
  size_t span(int arrays) const { return sets * stride * static_cast<size_t>(arrays); }
};

struct Memory {
  Buffer<float4> in, out;
};

Contender contender(const Way& way, const Stream& stream, const Layout& layout,
                    const std::shared_ptr<const Memory>& memory) {
  const StreamKernel kernel = way.kernel(stream.reads, stream.writes);
  const int tile = way.each * way.threads, tiles = (layout.vectors + tile - 1) / tile;
  int resident = 0;
  check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, kernel, way.threads, 0));
  const int blocks = way.persistent ? std::min(tiles, resident * multiprocessors()) : tiles;
  const auto run = [=](int set) {
    const size_t at = static_cast<size_t>(set) % layout.sets * layout.stride;
    const Arrays in = {memory->in.data() + at * static_cast<size_t>(stream.reads), layout.stride};
    const Arrays out = {memory->out.data() + at * static_cast<size_t>(stream.writes), layout.stride};
    launch(kernel, static_cast<unsigned>(blocks), static_cast<unsigned>(way.threads), in, out, layout.vectors,
           tiles);
  };
  return {run, layout.set_bytes, way.name};
}

}  // namespace

std::vector<std::vector<Contender>> streaming_ceilings(const std::vector<Stream>& streams, size_t l2_bytes) {
  size_t in = 0, out = 1;
  for (const Stream& stream : streams) {
    if (stream.reads < 1 || stream.reads > kMostReads || stream.writes < 0 || stream.writes > kMostWrites)
      throw std::invalid_argument("a streaming kernel reads 1 to 5 arrays and writes 0 to 2");
    const Layout layout(stream, l2_bytes);
    in = std::max(in, layout.span(stream.reads));
    out = std::max(out, layout.span(stream.writes));
  }
  const auto memory = std::make_shared<const Memory>(Memory{Buffer<float4>(in), Buffer<float4>(out)});
  if (in) launch(fill_random, 1024, 256, memory->in.data(), in);
  check(cudaStreamSynchronize(cudaStreamPerThread), "fill_random");

  std::vector<std::vector<Contender>> ceilings;
  for (const Stream& stream : streams) {
    const Layout layout(stream, l2_bytes);
    ceilings.emplace_back();
    for (const Way& way : kWays) ceilings.back().push_back(contender(way, stream, layout, memory));
  }
  return ceilings;
}

}  // namespace gpu
