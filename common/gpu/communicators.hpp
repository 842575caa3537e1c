/// \file
/// NCCL's communicators, each of which is one GPU's part in exchanging data with the others.
#pragma once

#include <nccl.h>

#include <string>
#include <vector>

#include "gpu/error.hpp"

namespace gpu {

/// \throws gpu::Error unless `status` is success.
inline void check_nccl(ncclResult_t status, const char* call) {
  if (status != ncclSuccess) throw Error(std::string(call) + ": " + ncclGetErrorString(status));
}

/// The communicators that there are, by GPU. One of several processes has its own here and null for the
/// others.
inline std::vector<ncclComm_t>& made_communicators() {
  static std::vector<ncclComm_t> all;
  return all;
}

}  // namespace gpu
