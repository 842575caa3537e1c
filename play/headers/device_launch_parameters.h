// CUDA's header of this name: program.hpp has what files need of it.
#pragma once
