# The operations. A source file that adds kernels to a table (`void add_<stem>(variant_list& list) {...}`, or
# `void list_..._kernels(std::vector<...>& list)`) is an object library of its own, kaio_ops_<stem>, of which the
# library and the program that prints its kernels (tools/CMakeLists.txt) are made. A new file is found by itself; one
# that only calls others is named in `composed`.

set(composed mma_sync)  # its add_mma_sync calls those of the other files
set(KAIO_OPS_FAMILIES)  # <stem>|<path below src/ops>|<function>|<type of its list>
set(ops_objects)
file(GLOB_RECURSE ops_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/ops/*.cpp)
set(variant_list "ops::variant_list")
set(kernel_list "std::vector<const ptx::kernel_image*>")
foreach(source IN LISTS ops_sources)
  get_filename_component(stem ${source} NAME_WE)
  file(RELATIVE_PATH path ${PROJECT_SOURCE_DIR}/src/ops ${source})
  file(STRINGS ${source} adder REGEX "^void (add_${stem}\\(variant_list|list_[a-z0-9_]+_kernels\\()")
  if(NOT adder OR stem IN_LIST composed)
    continue()
  endif()
  # Whether a file has kernels, and under which function, is seen when CMake runs.
  set_property(DIRECTORY ${PROJECT_SOURCE_DIR} APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${source})
  string(REGEX REPLACE "^void ([a-z0-9_]+)\\(.*" "\\1" function "${adder}")
  set(list ${kernel_list})
  if(function STREQUAL "add_${stem}")
    set(list ${variant_list})
  endif()
  list(APPEND KAIO_OPS_FAMILIES "${stem}|${path}|${function}|${list}")
  list(REMOVE_ITEM ops_sources ${source})
  add_library(kaio_ops_${stem} OBJECT ${source})
  list(APPEND ops_objects kaio_ops_${stem})
endforeach()

add_library(kaio_ops ${ops_sources})
foreach(target kaio_ops ${ops_objects})
  set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE ON)
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR}/src)
  target_compile_definitions(${target} PRIVATE KAIO_VERSION="${PROJECT_VERSION}")
  kaio_warnings(${target})
  # A section for each function and constant: what refers to the rest of the library is not linked into a program that lists kernels.
  target_compile_options(${target} PRIVATE ${KAIO_CONSTEXPR_FLAGS} -ffunction-sections
    -fdata-sections)
endforeach()
foreach(objects IN LISTS ops_objects)
  target_link_libraries(${objects} PRIVATE kaio_dsl)
  target_sources(kaio_ops PRIVATE $<TARGET_OBJECTS:${objects}>)
endforeach()
set_target_properties(kaio_ops PROPERTIES
  VERSION ${PROJECT_VERSION}
  SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
target_link_libraries(kaio_ops PUBLIC kaio_dsl kaio_runtime)
