# kaio_exports(target map): what leaves the target, where it is a shared library: the symbols of the linker's version script
# `map`, which names those that programs use, directly or through inline code of the headers. Everything else, and all that
# was compiled into it of fmt, spdlog and the standard library, stays inside. tests/abi compares the result with its list.
function(kaio_exports target map)
  get_target_property(type ${target} TYPE)
  if(NOT type STREQUAL "SHARED_LIBRARY" OR NOT UNIX OR APPLE)
    return()
  endif()
  target_link_options(${target} PRIVATE -Wl,--version-script=${map})
  set_property(TARGET ${target} APPEND PROPERTY LINK_DEPENDS ${map})
endfunction()
