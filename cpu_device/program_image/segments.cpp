#include "cpu_device/program_image/segments.hpp"

#include <link.h>

// The __constant__ variables of a program (program.hpp), which host code fills, and the __device__
// ones.
extern "C" {
[[gnu::weak]] extern char __start_program_constant[], __stop_program_constant[];
[[gnu::weak]] extern char __start_program_device[], __stop_program_device[];
}

namespace cpu {
namespace {

Region between(const char* start, const char* stop) {
  return {reinterpret_cast<std::uintptr_t>(start), static_cast<std::size_t>(stop - start)};
}

}  // namespace

Program program() {
  Program found;
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* out) {
        auto& program = *static_cast<Program*>(out);
        for (int i = 0; i < info->dlpi_phnum; ++i) {
          const auto& part = info->dlpi_phdr[i];
          const Region region = {info->dlpi_addr + part.p_vaddr, part.p_memsz};
          if (part.p_type == PT_TLS && info->dlpi_tls_data)
            program.thread_locals = {reinterpret_cast<std::uintptr_t>(info->dlpi_tls_data), part.p_memsz};
          if ((part.p_type == PT_LOAD && !(part.p_flags & PF_W)) || part.p_type == PT_GNU_RELRO)
            program.constants.push_back(region);
        }
        return 1;  // the program itself comes first
      },
      &found);
  if (__start_program_constant) {
    found.from_host = between(__start_program_constant, __stop_program_constant);
    found.constants.push_back(found.from_host);
    found.of_each_gpu.push_back(found.from_host);
  }
  if (__start_program_device)
    found.of_each_gpu.push_back(between(__start_program_device, __stop_program_device));
  return found;
}

}  // namespace cpu
