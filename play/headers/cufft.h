#error "this library is not there on the CPU device: kernels of your own run here, libraries do not"
