/// \file
/// What nvcc declares before the first line of a CUDA file, for files with a `main` of their own,
/// which the command "play" of the workbook runs on the CPU device. play/translation/translate.hpp says what
/// becomes of CUDA's keywords.
///
/// Such a file is compiled as one with kernels, but for its host functions, which the translation marks as
/// not traced. The templates of C++ in it are traced. So all its symbols but main are made local, and the
/// linker mixes none of them with the plain program's.
#pragma once

#include "play/program/device_functions.hpp"
#include "play/program/typed_graphs.hpp"
#include "play/program/typed_runtime.hpp"
