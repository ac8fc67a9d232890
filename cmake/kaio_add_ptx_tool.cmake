# kaio_add_ptx_tool(<target> KERNELS <kernel>... HEADERS <header>... [LINK_LIBRARIES <target>...] [SOURCES <file>...])
#
# Adds a program that knows some kernels by their names:
#
#   kaio_add_ptx_tool(app_kernels
#     HEADERS app/filters.hpp
#     KERNELS app::blur "app::sharpen<kaio::f32, 4>"
#     LINK_LIBRARIES app_headers)
#
#   app_kernels list                     each kernel: target, PTX version, instructions, block, shared memory
#   app_kernels ptx NAME [--lines]       its PTX, with the C++ line that each line came from
#   app_kernels dump FOLDER              all kernels as files
#   app_kernels verify [--require]       ptxas on every kernel, for each target that it runs on
#   app_kernels profile NAME [OPTION...] a run on the emulator, and what it costs
#   app_kernels check NAME [OPTION...]   a run on the emulator with every check
#
# KERNELS are C++ expressions, HEADERS declare them. Printing a kernel needs neither the runtime nor the emulator, so the
# program is linked without them; headers with functions that launch need LINK_LIBRARIES kaio::kaio. profile and check start
# the program `kaio`, and print the command that builds it if there is none. SOURCES may hold further lists of kernels:
# <kaio/tool/ptx_tool.hpp>.

function(kaio_add_ptx_tool target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "KERNELS;HEADERS;LINK_LIBRARIES;SOURCES")
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "kaio: kaio_add_ptx_tool(${target} ...) does not know '${arg_UNPARSED_ARGUMENTS}'; it takes "
      "KERNELS, HEADERS, LINK_LIBRARIES and SOURCES")
  endif()
  if(NOT arg_KERNELS AND NOT arg_SOURCES)
    message(FATAL_ERROR "kaio: kaio_add_ptx_tool(${target} ...) has no kernels; name them after KERNELS")
  endif()
  set(includes "")
  foreach(header IN LISTS arg_HEADERS)
    string(APPEND includes "#include \"${header}\"\n")
  endforeach()
  list(JOIN arg_KERNELS ", " kernels)
  set(source ${CMAKE_CURRENT_BINARY_DIR}/${target}.cpp)
  configure_file(${CMAKE_CURRENT_FUNCTION_LIST_DIR}/ptx_tool_main.cpp.in ${source} @ONLY)
  set(verifier ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/verify.py)  # as installed
  if(NOT EXISTS ${verifier})
    get_filename_component(verifier ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/../tests/ptx/verify.py ABSOLUTE)
  endif()
  add_executable(${target} ${source} ${arg_SOURCES})
  target_include_directories(${target} PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
  target_link_libraries(${target} PRIVATE kaio::dsl kaio::ptx_tool ${arg_LINK_LIBRARIES})
  target_compile_definitions(${target} PRIVATE KAIO_VERIFIER="${verifier}")
  set(program "")
  set(command "")
  if(TARGET kaio::program)
    set(program $<TARGET_FILE:kaio::program>)
  endif()
  if(kaio_SOURCE_DIR)  # a subfolder of this project, or kaio itself
    set(command "cmake '${CMAKE_BINARY_DIR}' -DKAIO_BUILD_TOOLS=ON && cmake --build '${CMAKE_BINARY_DIR}' --target ")
    string(APPEND command "kaio_program ${target}")
  endif()
  target_compile_definitions(${target} PRIVATE KAIO_PROGRAM="${program}" KAIO_PROGRAM_COMMAND="${command}")
endfunction()
