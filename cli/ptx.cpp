#include "ptx.hpp"

#include <map>
#include <regex>

namespace workbook {
namespace {

/// Special registers; those of the clock go on by 1000 with each call, as clock() does.
const std::map<std::string, std::string> kRegisters = {{"laneid", "::cpu::lane_index()"},
                                                       {"warpid", "::published::warp_index()"},
                                                       {"smid", "::published::multiprocessor_index()"},
                                                       {"nsmid", "::cpu::multiprocessors()"},
                                                       {"clock", "::published::clock()"},
                                                       {"clock64", "::published::clock()"},
                                                       {"globaltimer", "::published::clock()"},
                                                       {"globaltimer_lo", "::published::clock()"},
                                                       {"lanemask_eq", "(1u << ::cpu::lane_index())"},
                                                       {"lanemask_lt", "((1u << ::cpu::lane_index()) - 1)"},
                                                       {"lanemask_le", "((2u << ::cpu::lane_index()) - 1)"},
                                                       {"lanemask_gt", "(-2u << ::cpu::lane_index())"},
                                                       {"lanemask_ge", "(-1u << ::cpu::lane_index())"}};

const std::map<std::string, std::string> kCalls = {{"membar.cta", "::cpu::__threadfence_block()"},
                                                   {"membar.gl", "::cpu::__threadfence()"},
                                                   {"membar.sys", "::cpu::__threadfence_system()"},
                                                   {"fence.acq_rel.cta", "::cpu::__threadfence_block()"},
                                                   {"fence.acq_rel.gpu", "::cpu::__threadfence()"},
                                                   {"fence.acq_rel.sys", "::cpu::__threadfence_system()"},
                                                   {"bar.sync 0", "::cpu::__syncthreads()"},
                                                   {"barrier.sync 0", "::cpu::__syncthreads()"},
                                                   {"trap", "::cpu::__trap()"}};

std::string found(const std::map<std::string, std::string>& table, const std::string& name) {
  const auto entry = table.find(name);
  return entry == table.end() ? "" : entry->second;
}

}  // namespace

std::string ptx_register(std::string_view text) {
  static const std::regex form(R"(^"\s*mov\.[usb](?:32|64)\s+%0\s*,\s*%%?(\w+)\s*;?\s*"$)");
  std::match_results<std::string_view::const_iterator> match;
  return std::regex_match(text.begin(), text.end(), match, form) ? found(kRegisters, match[1]) : "";
}

std::string ptx_call(std::string_view text) {
  static const std::regex form(R"re(^"\s*([a-z_]+(?:\.[a-z_]+)*(?: 0)?)\s*;?\s*"$)re");
  std::match_results<std::string_view::const_iterator> match;
  return std::regex_match(text.begin(), text.end(), match, form) ? found(kCalls, match[1]) : "";
}

}  // namespace workbook
