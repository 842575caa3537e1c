# Compile through ccache where it is installed. A second checkout finds what the first one compiled: paths are taken relative
# to the checkout. A checkout whose path has a blank or the like shares nothing: lists of dependencies have such a path in
# another spelling, ccache leaves it there (4.7), and the second checkout would depend on the first one's files.
find_program(CCACHE_PROGRAM ccache)
if(CCACHE_PROGRAM)
  cmake_path(GET CMAKE_CURRENT_LIST_DIR PARENT_PATH checkout)
  set(sharing)
  if(checkout MATCHES "^[-+./A-Za-z0-9_]+$")
    set(sharing CCACHE_BASEDIR=${checkout} CCACHE_NOHASHDIR=1)
  endif()
  set(ccache ${CMAKE_COMMAND} -E env ${sharing} ${CCACHE_PROGRAM})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${ccache})
  set(CMAKE_CUDA_COMPILER_LAUNCHER ${ccache})
endif()
