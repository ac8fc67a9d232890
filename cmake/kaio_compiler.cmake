# Stops with one message if the compiler is too old for kaio. The headers refuse the same compilers
# (include/kaio/ptx/standard.hpp), in a user's build too.
foreach(row IN ITEMS "GNU;12" "Clang;16")
  list(GET row 0 compiler)
  list(GET row 1 oldest)
  if(CMAKE_CXX_COMPILER_ID STREQUAL compiler AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS oldest)
    message(FATAL_ERROR "kaio: this ${compiler} compiler is too old: ${CMAKE_CXX_COMPILER} is ${CMAKE_CXX_COMPILER_VERSION}. Install g++ "
      "12 or newer (Debian 12: apt install g++), or clang 16 or newer (apt install clang-16), and configure an empty build folder "
      "with its name: -DCMAKE_CXX_COMPILER=g++")
  endif()
endforeach()
