#error "CUB runs on a GPU alone: put what uses it in *.gpu.cuh"
