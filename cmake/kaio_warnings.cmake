# The warnings that every file of this repository compiles without. They are ours: nothing of them reaches a
# program that links kaio.

set(KAIO_WARNING_FLAGS -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Woverloaded-virtual)
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  # At -O2 and -O3, g++ 12 reports an overlap in "text" + a std::string that cannot be: its bug 105651.
  list(APPEND KAIO_WARNING_FLAGS -Wno-restrict)
endif()
if(KAIO_WERROR)
  list(APPEND KAIO_WARNING_FLAGS -Werror)
endif()

function(kaio_warnings target)
  target_compile_options(${target} PRIVATE ${KAIO_WARNING_FLAGS})
endfunction()
