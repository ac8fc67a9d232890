# kaio_check_kernels(<target> [HEADERS <header>... [KERNELS <kernel>...]])
#
# Checks kernels while the target is compiled, even if nothing launches them. Without it the compiler checks a kernel only
# where it is used.
#
#   kaio_check_kernels(app)                        each kernel that a source of app has or includes
#   kaio_check_kernels(app_headers                 each kernel in these headers, in a source file that is added to app
#     HEADERS app/filters.hpp                      (or, for an interface library, to a library of its own);
#     KERNELS "app::sharpen<kaio::f32, 4>")        and these instances of templates, C++ expressions
#
# The cost is the time to compile the checked kernels, in each file that includes them. If many headers have many kernels,
# the second form is faster.

function(kaio_check_kernels target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "HEADERS;KERNELS")
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "kaio: kaio_check_kernels(${target} ...) does not know '${arg_UNPARSED_ARGUMENTS}'; it takes "
      "HEADERS and KERNELS")
  endif()
  if(NOT TARGET ${target})
    message(FATAL_ERROR "kaio: kaio_check_kernels(${target}) comes before the target; add '${target}' first")
  endif()
  if(arg_KERNELS AND NOT arg_HEADERS)
    message(FATAL_ERROR "kaio: kaio_check_kernels(${target} ...) has KERNELS; name the headers that declare them after "
      "HEADERS")
  endif()
  get_target_property(type ${target} TYPE)
  if(NOT arg_HEADERS)
    if(type STREQUAL "INTERFACE_LIBRARY")
      message(FATAL_ERROR "kaio: ${target} is an interface library without sources; write kaio_check_kernels(${target} "
        "HEADERS <header>...)")
    endif()
    target_compile_definitions(${target} PRIVATE KAIO_CHECK_KERNELS)
    return()
  endif()
  set(text "// Made by kaio_check_kernels(): the kernels in these headers are checked.\n#define KAIO_CHECK_KERNELS 1\n")
  foreach(header IN LISTS arg_HEADERS)
    string(APPEND text "#include \"${header}\"\n")
  endforeach()
  if(arg_KERNELS)
    list(JOIN arg_KERNELS ", " kernels)
    string(APPEND text "static_assert(kaio::check_kernels(${kernels}));\n")
  endif()
  set(source ${CMAKE_CURRENT_BINARY_DIR}/${target}_kernel_check.cpp)
  file(CONFIGURE OUTPUT ${source} CONTENT "${text}" @ONLY)
  set(checker ${target})
  if(type STREQUAL "INTERFACE_LIBRARY")
    set(checker ${target}_kernel_check)
    add_library(${checker} OBJECT)
    target_link_libraries(${checker} PRIVATE kaio::dsl ${target})
  endif()
  target_sources(${checker} PRIVATE ${source})
  target_include_directories(${checker} PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
endfunction()
