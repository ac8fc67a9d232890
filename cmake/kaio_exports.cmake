# kaio_exports(target map): if the target is a shared library, it exports only the symbols of the linker's version script
# `map`: those that programs use, directly or through inline code of the headers. Everything else stays inside, also what was
# compiled into it from fmt, spdlog and the standard library. tests/abi compares the result with its list. Windows has no such
# scripts: there a map that lists names alone becomes a .def file.
function(kaio_exports target map)
  get_target_property(type ${target} TYPE)
  if(NOT type STREQUAL "SHARED_LIBRARY" OR APPLE)
    return()
  endif()
  if(WIN32)
    file(STRINGS ${map} names REGEX "^ *[A-Za-z0-9_]+;$")
    list(TRANSFORM names STRIP)
    list(TRANSFORM names REPLACE ";$" "")
    if(names)
      list(JOIN names "\n  " names)
      file(CONFIGURE OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/${target}.def CONTENT "EXPORTS\n  @names@\n" @ONLY)
      target_sources(${target} PRIVATE ${CMAKE_CURRENT_BINARY_DIR}/${target}.def)
      set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${map})
    endif()
    return()
  endif()
  target_link_options(${target} PRIVATE -Wl,--version-script=${map})
  set_property(TARGET ${target} APPEND PROPERTY LINK_DEPENDS ${map})
endfunction()
