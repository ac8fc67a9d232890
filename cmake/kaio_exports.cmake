# kaio_exports(target map): if the target is a shared library, it exports only the symbols of the linker's version script
# `map`: those that programs use, directly or through inline code of the headers. Everything else stays inside, also what was
# compiled into it from fmt, spdlog and the standard library. tests/abi compares the result with its list.
function(kaio_exports target map)
  get_target_property(type ${target} TYPE)
  if(NOT type STREQUAL "SHARED_LIBRARY" OR NOT UNIX OR APPLE)
    return()
  endif()
  target_link_options(${target} PRIVATE -Wl,--version-script=${map})
  set_property(TARGET ${target} APPEND PROPERTY LINK_DEPENDS ${map})
endfunction()
