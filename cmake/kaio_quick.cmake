# kaio_quick(target optimisation [header...]): with KAIO_QUICK_TOOLS, for a first result soon after a clone, the target is
# compiled with this optimisation (-O0, ...; empty: that of the build) and with its most used headers precompiled.
function(kaio_quick target optimisation)
  if(NOT KAIO_QUICK_TOOLS)
    return()
  endif()
  target_compile_options(${target} PRIVATE ${optimisation})
  target_precompile_headers(${target} PRIVATE ${ARGN})
  if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
    target_compile_options(${target} PRIVATE -fpch-preprocess)  # so that ccache takes a file that uses them
  endif()
endfunction()
