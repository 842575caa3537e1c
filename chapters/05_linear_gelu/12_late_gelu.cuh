/// \file
/// Stage 12: a fusion that loses. A second product follows: z = gelu(x * w^T + bias) * v^T. GELU can be
/// applied where the first product is stored ("early") or where the second one loads it ("late"); the bytes
/// are the same. But each element is stored once, and loaded again for every column of tiles of z.
#pragma once
#include "09_warp_tiles.cuh"

namespace DEVICE::linear_gelu {

/// product + bias: GELU is left to the second product.
struct BiasAlone {
  const float* bias;
  __device__ float of_column(int column) const { return bias[column]; }
  __device__ float operator()(float product, float shift) const { return product + shift; }
};

/// For linear_by_warp_tiles(): GELU before elements of x are stored in the tile, so once for every BN columns
/// of the result.
struct GeluOnLoad {
  __device__ float4 operator()(float4 v) const {
    return make_float4(gelu(v.x), gelu(v.y), gelu(v.z), gelu(v.w));
  }
};

// --- On the host ---

/// z = load(y) * v^T.
template <class Load>
void launch_second(const Data& data, const float* y, Load load) {
  const Factors first = factors(data);
  const Factors second = {.x = y, .w = data[kV], .m = first.m, .k = first.n, .n = first.k};
  launch_warp_tiles(second, data[kZ], load, NoEpilogue{});
}

/// The second product's k is n, and its n is k.
inline Shape second_shape(const Shape& s) { return {{s.dims[0], s.dims[2], s.dims[1]}}; }

inline int two_products_roundings(const Shape& s) {
  return linear_roundings(s) + product_roundings(second_shape(s));
}
inline double two_products_flops(const Shape& s) { return 2 * product_flops(s); }

/// The row that the stages share that compute z, with a second product.
constexpr Stage kComputesZ = {.output = {&kZ},
                              .kernels = 2,
                              .roundings = two_products_roundings,
                              .exact_roundings = exact_z_roundings,
                              .flops = two_products_flops,
                              .needs = "at most 2^36 multiplications: checking takes long",
                              .against = "12_early_gelu"};

struct EarlyGelu {
  static constexpr Stage row =
      kComputesZ.with({.name = "12_early_gelu", .idea = "two products: GELU where the first is stored"});
  static void run(const Data& data) {
    launch_warp_tiles(factors(data), data[kY], AsItIs{}, BiasGelu{data[kBias]});
    launch_second(data, data[kY], AsItIs{});
  }
  static Traffic traffic(const Shape& s) { return bias_epilogue_traffic(s) + tile_traffic(second_shape(s)); }
  static bool suits(const Shape& s) { return product_flops(s) <= 2 * ldexp(1.0, 36); }
};

struct LateGelu : EarlyGelu {
  static constexpr Stage row =
      kComputesZ.with({.name = "12_late_gelu", .idea = "two products: GELU where the second one loads it"});
  static void run(const Data& data) {
    launch_warp_tiles(factors(data), data[kBiased], AsItIs{}, BiasAlone{data[kBias]});
    launch_second(data, data[kBiased], GeluOnLoad{});
  }
};

}  // namespace DEVICE::linear_gelu
