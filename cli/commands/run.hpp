/// \file
/// The commands that run chapters: `run`, `bench` and `plots`.
#pragma once

#include "workbook.hpp"

namespace workbook {

/// The chapters that a name stands for: "1" is 01_multiply_add, "01" as well, and "0" is 00_first_kernel
/// alone. \throws UsageError
std::vector<std::string> chapters_matching(const Workbook& workbook, const std::string& name);

/// Whether the build has a program of the chapter.
bool has_program(const Workbook& workbook, const std::string& chapter);

/// The chapters that `run` and `bench` need built, and the programs that `plots` does; none where the command
/// only prints help. \throws UsageError and MachineError for what the command would refuse
std::vector<std::string> chapters_of_run(const Workbook& workbook, const std::vector<std::string>& words);
std::vector<std::string> chapters_of_bench(const Workbook& workbook, const std::vector<std::string>& chapters,
                                           const std::string& folder);
std::vector<std::string> targets_of_plots(const Workbook& workbook, const std::string& folder);

/// `run [chapter...] [option...]`: the words that are neither options nor their values are chapters or the
/// beginnings of their names; the options are passed to each of them. Returns their highest exit status.
/// \throws UsageError
int run_command(const Workbook& workbook, const std::vector<std::string>& words);

/// `bench [chapter...]`: times chapters at all their sizes on the GPU and writes NN_chapter.json to `folder`,
/// or to "results" when that is empty. Returns their highest exit status; stops at kMachineLacks, and then
/// leaves no empty folder. \throws UsageError; MachineError without a GPU side
int bench_command(const Workbook& workbook, const std::vector<std::string>& chapters,
                  const std::string& folder);

/// `plots [folder]`: draws the JSON in `folder`, or the committed runs when that is empty, and what the
/// chapters count and trace on the CPU device; with `compare`, next to the committed runs. Without a folder
/// it draws the lessons' pictures too. Returns kDone, kWrong when a chapter fails, or the exit status of
/// plots/plot.py or plots/diagrams.py. \throws UsageError
int plots_command(const Workbook& workbook, const std::string& folder, bool compare);

}  // namespace workbook
