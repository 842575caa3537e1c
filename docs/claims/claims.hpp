/// \file
/// Kernels of docs/claims.md, each in the shape of one that was published with a claim. Each function
/// launches one; all pointers are device memory.
#pragma once

#ifndef DEVICE
#define DEVICE cpu
#endif

namespace DEVICE::claims {

constexpr int kColumns = 1024;  ///< of a row of the normalisations; one block of 256 threads per row

/// Normalises each row: subtracts its mean and divides by its standard deviation. Reads the row three times.
void normalise_three_reads(const float* in, float* out, int rows);
/// The same with the row kept in registers: one read.
void normalise_one_read(const float* in, float* out, int rows);
/// The three reads, with no barrier between reading the mean and writing the variance over it.
void normalise_racing(const float* in, float* out, int rows);

/// out = 0, n elements.
void zero(float* out, int n);
/// out = a * b
void multiply(const float* a, const float* b, float* out, int n);
/// out = a + b
void add(const float* a, const float* b, float* out, int n);
/// out = a * b + c
void multiply_add(const float* a, const float* b, const float* c, float* out, int n);

/// out = in / scale, rounded to the nearest integer, to the even one of two.
void quantise_by_division(const float* in, float scale, int* out, int n);
/// out = in * (1 / scale), rounded in the same way.
void quantise_by_reciprocal(const float* in, float scale, int* out, int n);
/// The same, corrected as in chapter 03, stage 5.
void quantise_by_corrected(const float* in, float scale, int* out, int n);

/// out[0] to out[2] = the variance of x[0, n): mean of squares less square of mean, in two passes, and by
/// Welford and Chan.
void variances(const float* x, float* out, int n);

/// naive = stable = the softmax of n scores, without and with the maximum subtracted.
void softmaxes(const float* scores, float* naive, float* stable, int n);

}  // namespace DEVICE::claims
