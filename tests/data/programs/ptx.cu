// Inline PTX as kernels use it: copies, matrices, loads and stores of all kinds, arithmetic.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cstdint>
#include <cstdio>
#include <vector>

constexpr int kDepth = 64;  // of the products

template <class T>
T* on_device(const std::vector<T>& host) {
  T* device;
  cudaMalloc(&device, host.size() * sizeof(T));
  cudaMemcpy(device, host.data(), host.size() * sizeof(T), cudaMemcpyHostToDevice);
  return device;
}
template <class T>
std::vector<T> on_host(T* device, size_t count) {
  std::vector<T> host(count);
  cudaMemcpy(host.data(), device, count * sizeof(T), cudaMemcpyDeviceToHost);
  cudaFree(device);
  return host;
}

__device__ uint32_t shared_address(const void* of) {
  uint32_t address;
  asm volatile("{ .reg .u64 wide; cvta.to.shared.u64 wide, %1; cvt.u32.u64 %0, wide; }\n"
               : "=r"(address)
               : "l"(of));
  return address;
}

__device__ void store_sums(float* c, int n, const float (&d)[4]) {
  float* to = c + threadIdx.x / 4 * n + threadIdx.x % 4 * 2;
  asm volatile("st.global.cs.v2.f32 [%0], {%1, %2};" ::"l"(to), "f"(d[0]), "f"(d[1]) : "memory");
  asm volatile("st.global.v2.f32 [%0+0], {%1, %2};" ::"l"(to + 8 * n), "f"(d[2]), "f"(d[3]) : "memory");
}

// c = a * b^T for 16 rows of a and 8 of b, by one warp. Rows from `rows` on are zeros.
__global__ void by_bfloat16(const __nv_bfloat16* a, const __nv_bfloat16* b, float* c, int rows) {
  __shared__ __align__(16) __nv_bfloat16 a_tile[16][kDepth + 8], b_tile[8][kDepth + 8];
  const int lane = threadIdx.x;
  for (int i = lane; i < 16 * kDepth / 8; i += 32) {
    const int row = i / 8, column = i % 8 * 8;
    asm volatile(
        "cp.async.cg.shared.global [%0], [%1], 16, %2;\n" ::"r"(shared_address(&a_tile[row][column])),
        "l"(a + (row < rows ? row : 0) * kDepth + column), "r"(row < rows ? 16 : 0));
  }
  for (int i = lane; i < 128; i += 32) {
    const int row = i / 8 % 8, column = i % 8 * 8;
    asm volatile(
        "{\n"
        "  .reg .pred p;  // half of the threads have nothing to copy\n"
        "  setp.ne.b32 p, %2, 0;\n"
        "  @p cp.async.ca.shared.global.L2::128B [%0], [%1], %3;\n"
        "}\n" ::"r"((unsigned)__cvta_generic_to_shared(&b_tile[row][column])),
        "l"(b + row * kDepth + column), "r"((int)(i < 64)), "n"(16));
  }
  asm volatile("cp.async.commit_group;\n" ::);
  asm volatile("cp.async.wait_group %0;\n" ::"n"(0));
  __syncwarp();
  float d[4] = {};
  for (int k = 0; k < kDepth; k += 16) {
    uint32_t x[4], w[2];
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(x[0]), "=r"(x[1]), "=r"(x[2]), "=r"(x[3])
                 : "r"(shared_address(&a_tile[lane % 16][k + lane / 16 * 8])));
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared::cta.b16 {%0, %1}, [%2];"
                 : "=r"(w[0]), "=r"(w[1])
                 : "r"(shared_address(&b_tile[lane % 8][k + lane / 8 % 2 * 8])));
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
        "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3]), "r"(w[0]), "r"(w[1]));
  }
  store_sums(c, 8, d);
}

// The same with b given by columns, in halves with sums in halves: ldmatrix transposes.
__global__ void by_halves(const __half* a, const __half* b_columns, float* c) {
  __shared__ __align__(16) __half a_tile[16][kDepth], b_tile[kDepth][8];
  const int lane = threadIdx.x;
  for (int i = lane; i < 16 * kDepth; i += 32) a_tile[i / kDepth][i % kDepth] = a[i];
  for (int i = lane; i < 8 * kDepth; i += 32) b_tile[i / 8][i % 8] = b_columns[i];
  __syncwarp();
  uint32_t d[2] = {};
  for (int k = 0; k < kDepth; k += 8) {
    uint32_t x[2], w;
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0, %1}, [%2];"
                 : "=r"(x[0]), "=r"(x[1])
                 : "r"(shared_address(&a_tile[lane % 16][k])));
    asm volatile("ldmatrix.sync.aligned.m8n8.x1.trans.shared.b16 {%0}, [%1];"
                 : "=r"(w)
                 : "r"(shared_address(&b_tile[k + lane % 8][0])));
    asm volatile("mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16 {%0, %1}, {%2, %3}, {%4}, {%0, %1};"
                 : "+r"(d[0]), "+r"(d[1])
                 : "r"(x[0]), "r"(x[1]), "r"(w));
  }
  const __half2 *upper = (const __half2*)&d[0], *lower = (const __half2*)&d[1];
  store_sums(c, 8, {__low2float(*upper), __high2float(*upper), __low2float(*lower), __high2float(*lower)});
}

__global__ void by_tf32(const float* a, const float* b, float* c) {
  const int group = threadIdx.x / 4, member = threadIdx.x % 4;
  float d[4] = {};
  for (int k = 0; k < kDepth; k += 8) {
    uint32_t x[4], w[2];
    for (int i = 0; i < 4; ++i)
      asm("cvt.rna.tf32.f32 %0, %1;"
          : "=r"(x[i])
          : "f"(a[(group + i % 2 * 8) * kDepth + k + member + i / 2 * 4]));
    for (int i = 0; i < 2; ++i)
      asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(w[i]) : "f"(b[group * kDepth + k + member + i * 4]));
    asm volatile(
        R"(mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32
             {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};)"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3]), "r"(w[0]), "r"(w[1]));
  }
  store_sums(c, 8, d);
}

__global__ void by_bytes(const signed char* a, const signed char* b, float* c) {
  const int group = threadIdx.x / 4, member = threadIdx.x % 4;
  int d[4] = {};
  for (int k = 0; k < kDepth; k += 32) {
    uint32_t x[4], w[2];
    for (int i = 0; i < 4; ++i)
      x[i] = *(const uint32_t*)(a + (group + i % 2 * 8) * kDepth + k + member * 4 + i / 2 * 16);
    for (int i = 0; i < 2; ++i) w[i] = *(const uint32_t*)(b + group * kDepth + k + member * 4 + i * 16);
    asm volatile(
        "mma.sync.aligned.m16n8k32.row.col.satfinite.s32.s8.s8.s32 "
        "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])
        : "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3]), "r"(w[0]), "r"(w[1]));
  }
  store_sums(c, 8, {(float)d[0], (float)d[1], (float)d[2], (float)d[3]});
}

// The second warp waits until the first has stored, which the word of a flag says.
__global__ void hand_over(const float4* x, float4* y, unsigned* flag) {
  const int i = threadIdx.x % 32;
  if (threadIdx.x < 32) {
    float4 v;
    asm volatile("ld.global.nc.L1::no_allocate.v4.f32 {%0, %1, %2, %3}, [%4+512];"
                 : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w)
                 : "l"(x + i));
    asm volatile("st.global.cg.v4.f32 [%0], {%1, %2, %3, %4};" ::"l"(y + i), "f"(v.w), "f"(v.z), "f"(v.y),
                 "f"(v.x)
                 : "memory");
    __syncwarp();
    if (i == 0) asm volatile("red.release.gpu.global.add.u32 [%0], %1;" ::"l"(flag), "r"(7u) : "memory");
  } else {
    unsigned seen = 0;
    while (i == 0 && seen != 7)
      asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(seen) : "l"(flag) : "memory");
    __syncwarp();
    y[32 + i] = y[i];
  }
}

__global__ void compute(int* wrong) {
  const unsigned t = threadIdx.x, other = 0x9e3779b9u * (t + 1);
  unsigned low, high, permuted, reversed, product, chosen, pair;
  unsigned long long both;
  short narrow;
  float power;
  asm("mov.b64 %0, {%1, %2};" : "=l"(both) : "r"(t), "r"(other));
  asm("mov.b64 {%0, %1}, %2;" : "=r"(low), "=r"(high) : "l"(both));
  asm("prmt.b32 %0, %1, %2, 0x3175;" : "=r"(permuted) : "r"(t), "r"(other));
  asm("brev.b32 %0, %1;" : "=r"(reversed) : "r"(other));
  asm("mad.lo.u32 %0, %1, %2, %3;" : "=r"(product) : "r"(t), "r"(other), "n"(5));
  asm("{ .reg .pred less; setp.lt.s32 less, %1, 16; selp.u32 %0, %1, 100, less; }" : "=r"(chosen) : "r"(t));
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(1.0f), "f"((float)t));
  asm("cvt.s16.s32 %0, %1;" : "=h"(narrow) : "r"(-(int)t));
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(power) : "f"((float)t - 16));
  unsigned long long wide;
  int shifted, least;
  float fused;
  __shared__ float array[2];
  uint32_t address;
  asm("mul.wide.u32 %0, %1, %2;" : "=l"(wide) : "r"(other), "r"(t));
  asm("shr.s32 %0, %1, %2;" : "=r"(shifted) : "r"(-(int)t - 1), "r"(2 * t));
  asm("min.s32 %0, %1, -5;" : "=r"(least) : "r"(-(int)t));
  asm("{ .reg .f32 by; mov.f32 by, %1; fma.rn.f32 %0, by, 0f40000000, by; }" : "=f"(fused) : "f"((float)t));
  asm("{ .reg .u64 wide; cvta.to.shared.u64 wide, %1; cvt.u32.u64 %0, wide; }" : "=r"(address) : "l"(array));
  const __nv_bfloat162 expected = __floats2bfloat162_rn((float)t, 1.0f);
  wrong[t] = (low != t) + (high != other) + (permuted != __byte_perm(t, other, 0x3175)) +
             (reversed != __brev(other)) + (product != t * other + 5) + (chosen != (t < 16 ? t : 100)) +
             (pair != *(const unsigned*)&expected) + (narrow != -(int)t) + (power != exp2f((float)t - 16)) +
             (wide != (unsigned long long)other * t) + (shifted != (t < 16 ? (-(int)t - 1) >> (2 * t) : -1)) +
             (least != (t > 5 ? -(int)t : -5)) + (fused != 3.0f * t) +
             (address != (uint32_t)__cvta_generic_to_shared(&array[0]));
}

int main() {
  std::vector<float> a(16 * kDepth), b(8 * kDepth);
  for (size_t i = 0; i < a.size(); ++i) a[i] = (int)(i * 7 % 5) - 2;
  for (size_t i = 0; i < b.size(); ++i) b[i] = (int)(i * 5 % 7) - 3;
  const auto wrong_in = [&](float* device, int rows) {
    const std::vector<float> c = on_host(device, 16 * 8);
    int wrong = 0;
    for (int i = 0; i < 16 * 8; ++i) {
      float sum = 0;
      for (int k = 0; k < kDepth; ++k) sum += a[i / 8 * kDepth + k] * b[i % 8 * kDepth + k];
      wrong += c[i] != (i / 8 < rows ? sum : 0);
    }
    return wrong;
  };
  const auto zeros = [] { return on_device(std::vector<float>(16 * 8)); };

  std::vector<__nv_bfloat16> a_short(a.size()), b_short(b.size());
  std::vector<__half> a_half(a.size()), b_columns(b.size());
  std::vector<signed char> a_bytes(a.begin(), a.end()), b_bytes(b.begin(), b.end());
  for (size_t i = 0; i < a.size(); ++i) a_short[i] = __float2bfloat16(a[i]), a_half[i] = __float2half(a[i]);
  for (size_t i = 0; i < b.size(); ++i) {
    b_short[i] = __float2bfloat16(b[i]);
    b_columns[i % kDepth * 8 + i / kDepth] = __float2half(b[i]);
  }
  auto *short_a = on_device(a_short), *short_b = on_device(b_short);
  float* c = zeros();
  by_bfloat16<<<1, 32>>>(short_a, short_b, c, 13);
  printf("bfloat16 %d\n", wrong_in(c, 13));
  auto *half_a = on_device(a_half), *half_b = on_device(b_columns);
  c = zeros();
  by_halves<<<1, 32>>>(half_a, half_b, c);
  printf("halves %d\n", wrong_in(c, 16));
  auto *float_a = on_device(a), *float_b = on_device(b);
  c = zeros();
  by_tf32<<<1, 32>>>(float_a, float_b, c);
  printf("TF32 %d\n", wrong_in(c, 16));
  auto *bytes_a = on_device(a_bytes), *bytes_b = on_device(b_bytes);
  c = zeros();
  by_bytes<<<1, 32>>>(bytes_a, bytes_b, c);
  printf("bytes %d\n", wrong_in(c, 16));
  for (void* each : {(void*)short_a, (void*)short_b, (void*)half_a, (void*)half_b, (void*)float_a,
                     (void*)float_b, (void*)bytes_a, (void*)bytes_b})
    cudaFree(each);

  std::vector<float> x(256);
  for (int i = 0; i < 256; ++i) x[i] = i;
  float *from = on_device(x), *to = on_device(x);
  unsigned* flag = on_device(std::vector<unsigned>(1));
  hand_over<<<1, 64>>>((const float4*)from, (float4*)to, flag);
  const std::vector<float> handed = on_host(to, 256);
  int wrong = 0;
  for (int i = 0; i < 256; ++i) wrong += handed[i] != 128 + (i % 128 ^ 3);
  printf("hand-over %d\n", wrong);
  cudaFree(from);
  cudaFree(flag);

  int* of_each = on_device(std::vector<int>(32, 1));
  compute<<<1, 32>>>(of_each);
  wrong = 0;
  for (const int each : on_host(of_each, 32)) wrong += each;
  printf("arithmetic %d\n", wrong);
}
