#error \
    "cooperative groups are not supported: use __syncthreads, __syncwarp and the functions that end in _sync"
