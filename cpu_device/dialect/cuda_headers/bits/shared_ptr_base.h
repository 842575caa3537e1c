// The header of the same name in GNU's C++ library, part of <memory>, writes __attribute__((__noinline__)).
// The dialect defines __noinline__, one of CUDA's keywords, as a macro, so it is put aside for that header.
#pragma GCC system_header
#pragma push_macro("__noinline__")
#undef __noinline__
#include_next <bits/shared_ptr_base.h>
#pragma pop_macro("__noinline__")
