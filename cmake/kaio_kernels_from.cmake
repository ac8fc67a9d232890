# The objects of the kernels' families from another build folder of these sources. They take most of a build: programs trace the
# kernels, and ptxas assembles them. A wheel (tools/wheel.sh) takes them from the build that is tested.
#
#   cmake --preset release -B build/mine -DKAIO_KERNELS_FROM=build/ci
#
# Each build folder has ops/kernels.txt, with a line `<target>|<object>|<object>...` for each family and for the machine code.

set(KAIO_KERNELS_FROM "" CACHE PATH
  "A finished build folder of these sources: its objects of the operations' kernels are linked, and none is built")

# kaio_export_kernels(family...): writes ops/kernels.txt.
function(kaio_export_kernels)
  set(lines "")
  foreach(target IN LISTS ARGN ITEMS kaio_ops_precompiled)
    if(TARGET ${target})
      string(APPEND lines "${target}|$<JOIN:$<FILTER:$<TARGET_OBJECTS:${target}>,EXCLUDE,[.]gch$>,|>\n")
    endif()
  endforeach()
  file(GENERATE OUTPUT ${PROJECT_BINARY_DIR}/ops/kernels.txt CONTENT "${lines}")
endfunction()

# kaio_import_kernels(variable): makes the targets of that folder here, and sets the variable to those of the families. Objects
# that are older than the sources are refused: ninja knows all files that went into them.
function(kaio_import_kernels variable)
  get_filename_component(from ${KAIO_KERNELS_FROM} ABSOLUTE BASE_DIR ${PROJECT_SOURCE_DIR})
  set(advice "build them with: cmake --build \"${from}\" --target kaio_ops_archive")
  if(NOT EXISTS ${from}/ops/kernels.txt OR NOT EXISTS ${from}/build.ninja)
    message(FATAL_ERROR "kaio: ${from} (KAIO_KERNELS_FROM) is no build folder of kaio with ninja and the operations")
  endif()
  load_cache(${from} READ_WITH_PREFIX from_ CMAKE_HOME_DIRECTORY KAIO_PRECOMPILE_ARCHITECTURES)
  if(NOT from_CMAKE_HOME_DIRECTORY STREQUAL CMAKE_SOURCE_DIR)
    message(FATAL_ERROR "kaio: ${from} (KAIO_KERNELS_FROM) was configured for the sources in ${from_CMAKE_HOME_DIRECTORY}; "
      "name a build folder of ${CMAKE_SOURCE_DIR}")
  endif()
  file(STRINGS ${from}/ops/kernels.txt lines)
  set(targets)
  set(all)
  foreach(line IN LISTS lines)
    string(REPLACE "/./" "/" line "${line}")  # as ninja names them
    string(REPLACE "|" ";" objects "${line}")
    list(POP_FRONT objects target)
    add_library(${target} OBJECT IMPORTED GLOBAL)
    set_target_properties(${target} PROPERTIES IMPORTED_OBJECTS "${objects}")
    list(APPEND targets ${target})
    list(APPEND all ${objects})
  endforeach()
  # Under another name ninja does not make its manifest anew first.
  file(CREATE_LINK build.ninja ${from}/kernels.ninja SYMBOLIC)
  string(REPLACE "${from}/" "" all "${all}")
  find_program(ninja NAMES ninja ninja-build NO_CACHE REQUIRED)
  execute_process(COMMAND ${ninja} -C ${from} -f kernels.ninja -n ${all}
    OUTPUT_VARIABLE work ERROR_VARIABLE work RESULT_VARIABLE code)
  if(NOT code EQUAL 0 OR NOT work MATCHES "no work to do")
    message(FATAL_ERROR "kaio: kernels in ${from} (KAIO_KERNELS_FROM) are not built, or older than the sources; ${advice}")
  endif()
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${from}/ops/kernels.txt)
  message(STATUS "kaio: the kernels are those of ${from}")
  list(REMOVE_ITEM targets kaio_ops_precompiled)
  set(${variable} ${targets} PARENT_SCOPE)
endfunction()
