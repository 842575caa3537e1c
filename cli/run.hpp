/// \file
/// Running the chapters: to look at, to time, to draw.
#pragma once

#include "workbook.hpp"

namespace workbook {

/// `run [chapter...] [option...]`: the words before the first option name chapters, by the beginning of their
/// names; the options go to each of them. Returns the worst of their exit statuses. \throws UsageError
int run_command(const Workbook& workbook, const std::vector<std::string>& words);

/// `bench [chapter...]`: times chapters at all their sizes on the GPU and writes NN_chapter.json into
/// `folder`, "results" where that is empty. Returns the worst of their exit statuses; one without a GPU ends
/// it.
int bench_command(const Workbook& workbook, const std::vector<std::string>& chapters,
                  const std::string& folder);

/// `plots [folder]`: draws the JSON in `folder`, where that is empty the committed runs, and what the
/// chapters count and trace on the CPU device. With `compare`, the committed runs beside it. Returns an exit
/// status.
int plots_command(const Workbook& workbook, const std::string& folder, bool compare);

}  // namespace workbook
