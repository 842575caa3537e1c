/// \file
/// The one header of a kernel file. It picks the device that this translation unit is compiled for and names
/// it `DEVICE`: `gpu` under nvcc, `cpu` otherwise. The build may name another namespace for the same device,
/// such as `cpu::solution` for that of an exercise, so that several versions of one kernel can stand side by
/// side in one program.
#pragma once

#ifdef __CUDACC__
#define WORKBOOK_GPU  // code for GPUs alone is compiled, also by a test that emulates their instructions
#ifndef DEVICE
#define DEVICE gpu
#endif
#include <assert.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_pipeline.h>
#include <mma.h>

#include "gpu/launch.hpp"
#else
#ifndef DEVICE
#define DEVICE cpu
#endif
#include "cpu_device/dialect/dialect.hpp"
#endif
