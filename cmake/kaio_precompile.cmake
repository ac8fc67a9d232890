# kaio_precompile(<target> TOOL <tool> [ARCHITECTURES <sm>...])
#
# Adds machine code of some kernels to a program or library, so that the first launch on a GPU need not wait for the
# driver's compiler:
#
#   kaio_add_ptx_tool(app_kernels HEADERS app/filters.hpp KERNELS app::blur LINK_LIBRARIES app_headers)
#   kaio_precompile(app TOOL app_kernels ARCHITECTURES 80 90)
#
# TOOL is a program of kaio_add_ptx_tool: its kernels get machine code. ARCHITECTURES are compute capabilities without the
# dot, by default KAIO_PRECOMPILE_ARCHITECTURES. Code for 80 runs on every 8.x, code for 90 on 9.0 (as sm_90a if a kernel
# needs it). On other devices the driver compiles the kernels. This needs ptxas (KAIO_PTXAS in the environment, PATH, or a
# CUDA toolkit), Python 3 and a runtime with zlib. If one is missing, or KAIO_PRECOMPILE is OFF, nothing is added.

option(KAIO_PRECOMPILE "Add machine code of kernels to what is built with kaio_precompile, where ptxas is there" ON)
# Each architecture adds its code of nearly every kernel. These two are in data centres, and 80 serves every 8.x. For others
# the driver compiles once, and keeps the result.
set(KAIO_PRECOMPILE_ARCHITECTURES 80 90 CACHE STRING "The architectures of that machine code")

# Sets KAIO_PRECOMPILES to whether machine code can be made here.
function(kaio_can_precompile)
  set(KAIO_PRECOMPILES FALSE PARENT_SCOPE)
  if(NOT KAIO_PRECOMPILE OR CMAKE_CROSSCOMPILING OR WIN32)
    return()
  endif()
  string(REPLACE ":" ";" paths "$ENV{KAIO_PTXAS}")
  file(GLOB toolkits /usr/local/cuda*/bin/ptxas)
  find_program(ptxas ptxas NO_CACHE)
  find_package(Python3 QUIET COMPONENTS Interpreter)
  get_property(has_zlib GLOBAL PROPERTY KAIO_HAS_ZLIB)
  if(NOT paths AND NOT toolkits AND NOT ptxas)
    set(reason "there is no ptxas (KAIO_PTXAS, PATH, a CUDA toolkit)")
  elseif(NOT Python3_Interpreter_FOUND)
    set(reason "there is no Python 3")
  elseif(NOT has_zlib)
    set(reason "kaio's runtime is built without zlib")
  else()
    set(KAIO_PRECOMPILES TRUE PARENT_SCOPE)
    return()
  endif()
  get_property(reported GLOBAL PROPERTY KAIO_REPORTED_PRECOMPILE)
  if(NOT reported)
    message(STATUS "kaio: kernels are compiled by the driver when they are used first: ${reason}")
    set_property(GLOBAL PROPERTY KAIO_REPORTED_PRECOMPILE TRUE)
  endif()
endfunction()

set(KAIO_PRECOMPILE_FOLDER ${CMAKE_CURRENT_LIST_DIR})

# kaio_precompiled_source(<variable> <name> <tool> [PARTS <tool>...] ARCHITECTURES <sm>...): makes a source file that adds the
# machine code; `name` is part of its symbols. PARTS: programs with some of the kernels each. Their kernels are assembled as
# soon as the program is built.
function(kaio_precompiled_source variable name tool)
  cmake_parse_arguments(arg "" "" "PARTS;ARCHITECTURES" ${ARGN})
  find_package(Python3 QUIET COMPONENTS Interpreter)
  set(folder ${CMAKE_CURRENT_BINARY_DIR}/precompiled/${name})
  set(data ${folder}/kernels.code)
  set(source ${folder}/precompiled.cpp)
  configure_file(${KAIO_PRECOMPILE_FOLDER}/precompiled.cpp.in ${source} @ONLY)
  list(TRANSFORM arg_ARCHITECTURES PREPEND "--architecture=" OUTPUT_VARIABLE architectures)
  set(assemble ${CMAKE_COMMAND} -E env KAIO_PTXAS=$ENV{KAIO_PTXAS} ${Python3_EXECUTABLE}
    ${KAIO_PRECOMPILE_FOLDER}/precompile.py)
  set(scripts ${KAIO_PRECOMPILE_FOLDER}/precompile.py ${KAIO_PRECOMPILE_FOLDER}/ptxas.py)
  set(parts)
  foreach(part IN LISTS arg_PARTS)
    list(APPEND parts ${folder}/parts/${part}.code)
    add_custom_command(OUTPUT ${folder}/parts/${part}.code VERBATIM
      COMMAND ${part} dump ${folder}/parts/${part}
      COMMAND ${assemble} ${folder}/parts/${part} --output ${folder}/parts/${part}.code --keep ${folder}/ptx/cubin --jobs 2
        ${architectures}
      DEPENDS ${part} ${scripts}
      COMMENT "Assembling the kernels of ${part}")
  endforeach()
  add_custom_command(OUTPUT ${data} ${data}.hpp VERBATIM
    COMMAND ${tool} dump ${folder}/ptx
    COMMAND ${assemble} ${folder}/ptx --output ${data} ${architectures}
    DEPENDS ${tool} ${parts} ${scripts}
    COMMENT "Assembling the kernels of ${name}")
  set_source_files_properties(${source} PROPERTIES OBJECT_DEPENDS ${data})
  set(${variable} ${source} PARENT_SCOPE)
endfunction()

function(kaio_precompile target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "TOOL" "ARCHITECTURES")
  if(arg_UNPARSED_ARGUMENTS OR NOT arg_TOOL)
    message(FATAL_ERROR "kaio: kaio_precompile(${target} ...) takes TOOL, a program of kaio_add_ptx_tool, and "
      "ARCHITECTURES")
  endif()
  get_target_property(folder ${target} SOURCE_DIR)
  if(NOT folder STREQUAL CMAKE_CURRENT_SOURCE_DIR)
    message(FATAL_ERROR "kaio: kaio_precompile(${target} ...) must be in the CMakeLists.txt that makes the target")
  endif()
  kaio_can_precompile()
  if(NOT KAIO_PRECOMPILES)
    return()
  endif()
  if(NOT arg_ARCHITECTURES)
    set(arg_ARCHITECTURES ${KAIO_PRECOMPILE_ARCHITECTURES})
  endif()
  string(MAKE_C_IDENTIFIER ${target} name)
  kaio_precompiled_source(source ${name} ${arg_TOOL} ARCHITECTURES ${arg_ARCHITECTURES})
  target_sources(${target} PRIVATE ${source})
  get_target_property(type ${target} TYPE)
  if(type STREQUAL "STATIC_LIBRARY")
    target_link_options(${target} INTERFACE LINKER:--undefined=kaio_precompiled_${name})
  endif()
endfunction()
