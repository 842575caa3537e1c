// The executable several_processes: chapter 10 with a process for each GPU.
#include "harness/backends/run_processes.hpp"

namespace gpu::several_gpus {
workbook::Chapter chapter();
}

int main(int argc, char** argv) { return workbook::run_processes(argc, argv, gpu::several_gpus::chapter()); }
