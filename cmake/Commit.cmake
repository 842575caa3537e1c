# Writes a C++ file with the commit that is being built, when it has changed.
execute_process(COMMAND git -C "${SOURCE}" rev-parse --short=12 HEAD OUTPUT_VARIABLE commit
                OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE failed)
if(failed)
  set(commit unknown)
else()
  execute_process(COMMAND git -C "${SOURCE}" status --porcelain --untracked-files=no OUTPUT_VARIABLE changes ERROR_QUIET)
  if(NOT changes STREQUAL "")
    set(commit ${commit}-dirty)
  endif()
endif()
file(CONFIGURE OUTPUT "${OUTPUT}" CONTENT [[
#include "harness/tables/report.hpp"

std::string workbook::build_commit() { return "@commit@"; }
]] @ONLY)
