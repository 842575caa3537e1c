# Compile through ccache where it is installed. A second checkout finds what the first one compiled: paths are taken relative
# to the checkout. A checkout whose path has a blank or the like shares nothing: lists of dependencies have such a path in
# another spelling, ccache leaves it there (4.7), and the second checkout would depend on the first one's files.
find_program(CCACHE_PROGRAM ccache)
if(CCACHE_PROGRAM)
  cmake_path(GET CMAKE_CURRENT_LIST_DIR PARENT_PATH checkout)
  # Not by the list of headers of an earlier compilation: a new one may be found before one of these.
  set(settings CCACHE_NODIRECT=1)
  if(checkout MATCHES "^[-+./A-Za-z0-9_]+$")
    list(APPEND settings CCACHE_BASEDIR=${checkout} CCACHE_NOHASHDIR=1)
  endif()
  set(ccache ${CMAKE_COMMAND} -E env ${settings} ${CCACHE_PROGRAM})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${ccache})
  set(CMAKE_CUDA_COMPILER_LAUNCHER ${ccache})
endif()
