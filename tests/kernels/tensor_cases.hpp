/// \file
/// The test cases of the tensor-core kernels, the same on both devices.
#pragma once

/// One combination of types, shape and layouts. Matrices are A, m x k, B, k x n, and the accumulator, m x n.
struct TensorCase {
  const char* number;  ///< of A and B: "half", "bfloat16" or "tf32"
  int m, n, k;
  bool a_by_columns, b_by_columns, out_by_columns;
  bool half_accumulator;

  /// out = a * b by one warp, of `tiles` times k columns of A. Rows (or columns) begin `a_stride`,
  /// `b_stride`, `out_stride` elements apart.
  void (*product)(const void* a, const void* b, void* out, int tiles, int a_stride, int b_stride,
                  int out_stride);
  /// out[lane][i], 16 each: 64 times the row plus the column of element i of that lane's fragment of A, B
  /// and the accumulator; -1 where it has no element i. `rows` and `columns` hold the numbers of their rows
  /// and columns, in the layout and type of each matrix, side by side.
  void (*places_a)(const void* rows, const void* columns, float* out);
  void (*places_b)(const void* rows, const void* columns, float* out);
  void (*places_out)(const void* rows, const void* columns, float* out);
};

struct TensorCases {
  const TensorCase* first;
  int count;
};

/// Mistakes in a kernel.
enum class PipelineMistake {
  kNone,
  kNoWait,
  kNoCommit,
  kWaitForOlderStage,
  kNoBarrierBehindWait,
  kBarrierBeforeWait,
  kNoBarrierBeforeReuse
};
enum class CopyMistake {
  kNone,
  kMisalignedSource,
  kMisalignedTarget,
  kTwelveBytes,
  kFromShared,
  kPastTheEnd,
  kNoBarrierBefore,
  kNoBarrierBehind
};
enum class FragmentMistake {
  kNone,
  kHalfOfTheWarp,
  kTwoBranches,
  kOddStride,
  kMisaligned,
  kAddressOfLane,
  kNoBarrier
};
