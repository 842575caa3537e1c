// CUDA's header of this name: cooperative_groups.h has it.
#pragma once
#include "../cooperative_groups.h"
