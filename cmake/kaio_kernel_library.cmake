# kaio_kernel_library(<target> <source>... [INCLUDES <folder>...])
#
# Makes a kernel library: a shared object whose kernels Python (kaio.load), Rust and C (kaio_kernel_library_open) launch by
# name, with arguments that are checked against the C++ types. One of the sources names the kernels:
#
#   kaio_kernel_library(my_kernels kernels.cpp)      # libmy_kernels.so
#
#   #include "my_kernels.hpp"                        // kernels.cpp
#   #include <kaio/tool/kernel_library.hpp>
#   KAIO_KERNEL_LIBRARY(saxpy, filters::sharpen<kaio::f32, 4>);
#
# The object needs nothing of kaio when it is loaded. Its other symbols are hidden: two libraries may have kernels of the same
# C++ names.

function(kaio_kernel_library target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "INCLUDES")
  if(NOT arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "kaio: kaio_kernel_library(${target}) has no source; name the file with KAIO_KERNEL_LIBRARY(...)")
  endif()
  add_library(${target} MODULE ${arg_UNPARSED_ARGUMENTS})
  set_target_properties(${target} PROPERTIES CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
  target_link_libraries(${target} PRIVATE kaio::dsl)
  target_include_directories(${target} PRIVATE ${arg_INCLUDES})
  target_compile_options(${target} PRIVATE -fdata-sections -ffunction-sections
    $<$<CXX_COMPILER_ID:Clang,AppleClang>:-fconstexpr-steps=16777216>)
  if(NOT APPLE)
    target_link_options(${target} PRIVATE LINKER:--gc-sections)  # the traces of the kernels
  endif()
endfunction()
