// OpenMP's header, for programs: host code has one thread.
#pragma once

#include <time.h>

inline int omp_get_num_procs() { return 1; }
inline int omp_get_max_threads() { return 1; }
inline int omp_get_num_threads() { return 1; }
inline int omp_get_thread_num() { return 0; }
inline int omp_in_parallel() { return 0; }
inline void omp_set_num_threads(int) {}
inline double omp_get_wtime() { return static_cast<double>(::clock()) / CLOCKS_PER_SEC; }
