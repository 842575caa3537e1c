// CUDA's header of this name: published.hpp has what files need of it.
#pragma once
