# kaio_precompile_headers(target header...): with KAIO_PRECOMPILED_HEADERS or KAIO_QUICK_TOOLS, these headers, which most
# files of the target include, are parsed once. A file must not need that: CI's build with clang 19 has none.
function(kaio_precompile_headers target)
  if(NOT KAIO_PRECOMPILED_HEADERS AND NOT KAIO_QUICK_TOOLS)
    return()
  endif()
  if(NOT ARGN)
    return()
  endif()
  target_precompile_headers(${target} PRIVATE ${ARGN})
  if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
    target_compile_options(${target} PRIVATE -fpch-preprocess)  # so that ccache takes a file that uses them
  else()
    target_compile_options(${target} PRIVATE "SHELL:-Xclang -fno-pch-timestamp")
  endif()
endfunction()

# kaio_quick(target optimisation [header...]): with KAIO_QUICK_TOOLS, for a first result soon after a clone, the target is
# compiled with this optimisation (-O0, ...; empty: that of the build). Its most used headers are precompiled.
function(kaio_quick target optimisation)
  kaio_precompile_headers(${target} ${ARGN})
  if(KAIO_QUICK_TOOLS)
    target_compile_options(${target} PRIVATE ${optimisation})
  endif()
endfunction()
