# Prints the folder of doxygen-awesome-css, or nothing: cmake -P cmake/FindTheme.cmake. docs/book.py asks it, because the book
# can be built where the programs cannot. The environment's CMAKE_PREFIX_PATH names further places, as everywhere in CMake.
find_path(theme doxygen-awesome.css
          PATHS /usr/local /usr
          PATH_SUFFIXES share/doxygen-awesome-css doxygen-awesome-css share/doxygen-awesome)
if(theme)
  execute_process(COMMAND ${CMAKE_COMMAND} -E echo "${theme}") # message() would print to standard error
endif()
