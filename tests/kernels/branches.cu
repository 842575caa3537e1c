#include "branches.hpp"
#include "device.hpp"

namespace DEVICE::test_kernels {
namespace {

constexpr int kLanes = 32, kTile = 32, kDepth = 8;

template <Way kWay>
__device__ float changed(float v, int code) {
  const float low = -0.5f, high = 0.5f;
  if constexpr (kWay == Way::kMinMaxF) return fminf(fmaxf(v, low), high);
  if constexpr (kWay == Way::kMinMax) return max(min(v, high), low);
  if constexpr (kWay == Way::kConditional) return v < low ? low : v > high ? high : v;
  if constexpr (kWay == Way::kIf) {
    if (v < low) v = low;
    if (v > high) v = high;
    return v;
  }
  if constexpr (kWay == Way::kNestedIf) {
    if (v < 0) {
      if (v < low) return low;
      if (code & 1) return -v;
    } else if (v > high) {
      return code & 2 ? high : low;
    }
    return v;
  }
  if constexpr (kWay == Way::kAbs) return fabsf(v) > high ? copysignf(high, v) : v;
  if constexpr (kWay == Way::kSaturate) return __saturatef(v);
  if constexpr (kWay == Way::kToInt) return __float2int_rn(v * 3.0f);
  if constexpr (kWay == Way::kSwitch) {
    switch (code) {
      case 0:
        return v * v;
      case 1:
        return sqrtf(fabsf(v));
      case 2:
        return v + 3;
      case 3:
        return 1 / (v + 5);
      case 4:
        return expf(v);
      case 6:
        return v - code;
      default:
        return v;
    }
  }
  return v;
}

template <Way kWay>
__global__ void clamped(const float* in, const int* codes, const float* table, float* out, int rows) {
  const int t = threadIdx.x;
  float sum = 0;
  if constexpr (kWay == Way::kWhile) {
    int j = 0;
    while (j < rows) {
      const float v = in[kLanes * j + t], w = table[kLanes * j + t];
      if (v < 0) {
        sum -= v * w;
        ++j;
        continue;
      }
      sum += v * w;
      ++j;
    }
  } else {
    for (int j = 0; j < rows; ++j) {
      const float v =
          changed<kWay>(in[kLanes * j + t], kWay == Way::kSwitch || kWay == Way::kNestedIf ? codes[t] : 0);
      sum += v * table[kLanes * j + t];
    }
  }
  out[t] = sum;
}

template <int kWay = 0>
void launch_clamped(int way, const float* in, const int* codes, const float* table, float* out, int rows) {
  if constexpr (kWay < static_cast<int>(Way::kMost)) {
    if (way == kWay) {
      launch(clamped<static_cast<Way>(kWay)>, 1, kLanes, in, codes, table, out, rows);
    } else {
      launch_clamped<kWay + 1>(way, in, codes, table, out, rows);
    }
  }
}

__device__ __noinline__ float element(const float* from, int i) { return from[i]; }
__device__ __noinline__ float twice(const float* from, int i) { return 2 * from[i]; }

__global__ void coded(const int* codes, const float* a, const float* b, const float* c, float* out,
                      int rows) {
  const int t = threadIdx.x;
  float sum = 0;
  for (int j = 0; j < rows; ++j) {
    const int i = kLanes * j + t, code = codes[i];
    if (code == 5) break;
    switch (code) {
      case 0:
        sum += a[i];
        break;
      case 1:
        sum -= b[i];
        break;
      case 2:
        sum += a[i];
        sum *= b[i];
        break;
      case 4:
        continue;
      case 6:
        sum += element(a, i);
        break;
      case 7:
        sum += twice(b, i);
        break;
      default:
        sum += 1;
    }
    if (sum > 100) sum = 0;
    sum += c[i];
  }
  out[t] = sum;
}

__global__ void causal(const float* queries, const float* keys, float* out, int n) {
  const int t = threadIdx.x;
  __shared__ float tile[kTile * kDepth], scores[kTile * (kTile + 1)];
  float* const own = scores + t * (kTile + 1);
  for (int first = 0; first < n; first += kTile) {
    for (int x = 0; x < kDepth; ++x) tile[x * kTile + t] = first + t < n ? keys[(first + t) * kDepth + x] : 0;
    __syncthreads();
    for (int row = t; row < n; row += kTile) {
      float most = -INFINITY;
      for (int y = 0; y < kTile; ++y) {
        if (first + y >= n) break;
        float score = 0;
        for (int x = 0; x < kDepth; ++x) score += queries[row * kDepth + x] * tile[x * kTile + y];
        if (first + y > row) score = -INFINITY;
        own[y] = score;
        if (score > most) most = score;
      }
      float sum = 0;
      for (int y = 0; y < kTile; ++y) {
        if (first + y >= n) break;
        if (first + y > row)
          own[y] = 0;
        else
          own[y] = expf(own[y]);
        sum += own[y];
      }
      for (int x = 0; x < kDepth; ++x) {
        float product = 0;
        for (int y = 0; y < kTile; ++y) {
          if (first + y >= n) break;
          if (own[y] == 0) continue;
          product += own[y] * tile[x * kTile + y];
        }
        out[row * kDepth + x] = (first > 0 ? out[row * kDepth + x] : 0) + product + max(most, 0.0f) * sum;
      }
    }
    __syncthreads();
  }
}

__global__ void walking(const int* next, const float* value, float* out) {
  const int t = threadIdx.x;
  float sum = 0;
  int i = t;
  while (true) {
    i = next[i];
    if (i < 0) break;
    if (i & 1) continue;
    sum += value[i];
  }
  out[t] = sum;
}

__device__ __noinline__ float column_sum(const float* column, int length) {
  float sum = 0;
  for (int j = 0; j < length; ++j) {
    const float v = column[kLanes * j];
    if (v < 0) continue;
    sum += 2 * column[kLanes * j + 1];
  }
  return sum;
}

__global__ void two_calls(const int* lengths, const float* in, float* out) {
  const int t = threadIdx.x;
  const float first = column_sum(in + t, lengths[t]);
  out[t] = first + column_sum(in + t, lengths[t ^ 1]);
}

__device__ __noinline__ int tree_size(const int* marks, int node, int count) {
  if (node >= count) return 0;
  int size = marks[node];
  for (int child = 2 * node + 1; child <= 2 * node + 2; ++child) size += tree_size(marks, child, count);
  return size;
}

__global__ void trees(const int* marks, int* out, int count) {
  out[threadIdx.x] = tree_size(marks, threadIdx.x, count);
}

}  // namespace

void clamped_columns(Way way, const float* in, const int* codes, const float* table, float* out, int rows) {
  launch_clamped(static_cast<int>(way), in, codes, table, out, rows);
}
void coded_columns(const int* codes, const float* a, const float* b, const float* c, float* out, int rows) {
  launch(coded, 1, kLanes, codes, a, b, c, out, rows);
}
void causal_tiles(const float* queries, const float* keys, float* out, int n) {
  launch(causal, 1, kTile, queries, keys, out, n);
}
void walk(const int* next, const float* value, float* out) { launch(walking, 1, kLanes, next, value, out); }
void sums_of_two_calls(const int* lengths, const float* in, float* out) {
  launch(two_calls, 1, kLanes, lengths, in, out);
}
void tree_sizes(const int* marks, int* out, int count) { launch(trees, 1, kLanes, marks, out, count); }

}  // namespace DEVICE::test_kernels
