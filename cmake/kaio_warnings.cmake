# Every file of this repository compiles without these warnings. They are private: no program that links kaio gets the
# options.

set(KAIO_WARNING_FLAGS -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Woverloaded-virtual)
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  # At -O2 and -O3, g++ 12 reports an overlap in "text" + a std::string that cannot happen: its bug 105651.
  list(APPEND KAIO_WARNING_FLAGS -Wno-restrict)
endif()
if(CMAKE_CXX_COMPILER_ID MATCHES Clang)
  # clang 19 reports that std::stable_sort of libstdc++ 12 uses std::get_temporary_buffer.
  list(APPEND KAIO_WARNING_FLAGS -Wno-deprecated-declarations)
endif()
if(KAIO_WERROR)
  list(APPEND KAIO_WARNING_FLAGS -Werror)
endif()

function(kaio_warnings target)
  if(KAIO_QUICK_TOOLS AND NOT KAIO_WERROR)
    return()  # quick tools are for a first result, not for work on kaio
  endif()
  target_compile_options(${target} PRIVATE ${KAIO_WARNING_FLAGS})
endfunction()
