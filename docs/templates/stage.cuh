/// \file
/// Stage STAGE_NUMBER: one idea. Think: what changes against the stage before, and why does it save time?
#pragma once
#include "problem.cuh"

namespace DEVICE::chapter_namespace {

/// Think: what does it compute, and which part does a thread have?
/// Traffic: think: which bytes does it read and write per element, in how many launches?
__global__ void stage_name() {}

// --- On the host ---

struct StageName {
  // Think: which row do this chapter's stages share? With it, write kThatRow.with({...}).
  static constexpr Stage row = {
      .name = "stage_file",
      .idea = "think: what is new, in some words?",
      .output = {&kFirstOutput},                     // think: what does it compute?
      .roundings = [](const Shape&) { return 0; }};  // think: how often is a result rounded?
  // Think: how many blocks and threads? The elements of kX are data[kX].
  static void run(const Data&) { launch(stage_name, 1, 256); }
  // Think, before you run it: how many bytes does it move, in whole sectors?
  static Traffic traffic(const Shape&) { return {0, 0}; }
};

}  // namespace DEVICE::chapter_namespace
