# The operations. A source file below src/ops that lists kernels has one function at the start of a line,
#   void add_<family>(variant_list& list) ...                                    rows of a table of variants
#   void list_<family>_kernels(std::vector<const ptx::kernel_image*>& list) ...  kernels that no table has
# and is an object library of its own, kaio_ops_<family>, of which the library and the program that prints its kernels
# (tools/CMakeLists.txt) are made. A new file is found by itself. The files of the kernels for sm_90a are made of the
# lines of families.def.

file(GLOB_RECURSE ops_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/ops/*.cpp)
set(families ${PROJECT_SOURCE_DIR}/src/ops/matmul/choice/sm90_families.def)
set_property(DIRECTORY ${PROJECT_SOURCE_DIR} APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${families})
file(STRINGS ${families} lines REGEX "^KAIO_SM90_FAMILY")
foreach(line IN LISTS lines)
  string(REGEX MATCH "^KAIO_SM90_FAMILY\\(([a-z0-9_]+), (.*)\\)$" line "${line}")
  set(family ${CMAKE_MATCH_1})
  set(adder ${CMAKE_MATCH_2})
  set(source ${PROJECT_BINARY_DIR}/ops/${family}.cpp)
  configure_file(${PROJECT_SOURCE_DIR}/src/ops/matmul/sm90/family.cpp.in ${source} @ONLY)
  list(APPEND ops_sources ${source})
endforeach()
set(KAIO_OPS_SOURCES ${ops_sources})  # all of them: tests/native compiles them too

set(KAIO_OPS_FAMILIES)  # <family>|<source>|<function>|<type of its list>
set(ops_objects)
set(adder_of_rows "^void add_([a-z0-9_]+)\\(variant_list")
set(lister_of_kernels "^void list_([a-z0-9_]+)_kernels\\(std::vector")
foreach(source IN LISTS ops_sources)
  file(STRINGS ${source} function REGEX "${adder_of_rows}|${lister_of_kernels}")
  if(NOT function)
    continue()
  endif()
  # Whether a file has kernels, and under which function, is seen when CMake runs.
  set_property(DIRECTORY ${PROJECT_SOURCE_DIR} APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${source})
  if(function MATCHES "${adder_of_rows}")
    set(list "ops::variant_list")
  else()
    string(REGEX MATCH "${lister_of_kernels}" function "${function}")
    set(list "std::vector<const ptx::kernel_image*>")
  endif()
  set(family ${CMAKE_MATCH_1})
  string(REGEX REPLACE "^void ([a-z0-9_]+)\\(.*" "\\1" function "${function}")
  list(REMOVE_ITEM ops_sources ${source})
  if(KAIO_BUILD_OPS)
    list(APPEND KAIO_OPS_FAMILIES "${family}|${source}|${function}|${list}")
    add_library(kaio_ops_${family} OBJECT ${source})
    list(APPEND ops_objects kaio_ops_${family})
  endif()
endforeach()

# What checks and chooses: all of the library but its kernels. A program that compiles the kernels itself, by
# attention_with, links these objects alone.
add_library(kaio_ops_common OBJECT EXCLUDE_FROM_ALL ${ops_sources})
list(APPEND ops_objects kaio_ops_common)
add_library(kaio_ops_without_kernels INTERFACE)
target_sources(kaio_ops_without_kernels INTERFACE $<TARGET_OBJECTS:kaio_ops_common>)
target_link_options(kaio_ops_without_kernels INTERFACE LINKER:--gc-sections)

foreach(objects IN LISTS ops_objects)
  set_target_properties(${objects} PROPERTIES POSITION_INDEPENDENT_CODE ON)
  target_include_directories(${objects} PRIVATE ${PROJECT_SOURCE_DIR}/src)
  # tests/native probes these kernels, at a thousandth of what a compiler needs for it.
  target_compile_definitions(${objects} PRIVATE KAIO_VERSION="${PROJECT_VERSION}" KAIO_ASSUME_SOUND)
  kaio_warnings(${objects})
  # A section for each function and constant: code that refers to the rest of the library is not linked into a
  # program that lists kernels.
  target_compile_options(${objects} PRIVATE ${KAIO_CONSTEXPR_FLAGS} -ffunction-sections -fdata-sections)
  target_link_libraries(${objects} PRIVATE kaio_dsl)
endforeach()
if(NOT KAIO_BUILD_OPS)
  return()
endif()

# Machine code of these kernels, which are printed by a program that is linked without the emulator and launches none.
kaio_can_precompile()
if(KAIO_PRECOMPILES)
  add_executable(kaio_ops_kernels EXCLUDE_FROM_ALL ${PROJECT_SOURCE_DIR}/tools/ops_kernels.cpp)
  foreach(objects IN LISTS ops_objects)
    target_sources(kaio_ops_kernels PRIVATE $<TARGET_OBJECTS:${objects}>)
  endforeach()
  target_include_directories(kaio_ops_kernels PRIVATE ${PROJECT_SOURCE_DIR}/src)
  target_link_libraries(kaio_ops_kernels PRIVATE kaio_ptx_tool kaio_device)
  kaio_warnings(kaio_ops_kernels)
  kaio_precompiled_source(source ops kaio_ops_kernels ${KAIO_PRECOMPILE_ARCHITECTURES})
  add_library(kaio_ops_precompiled OBJECT ${source})
  set_target_properties(kaio_ops_precompiled PROPERTIES POSITION_INDEPENDENT_CODE ON)
  target_link_libraries(kaio_ops_precompiled PRIVATE kaio_dsl)
  kaio_warnings(kaio_ops_precompiled)
endif()

# kaio_ops_library(target runtime [type]): a library of all these objects, on this library of the runtime.
function(kaio_ops_library target runtime)
  add_library(${target} ${ARGN})
  foreach(objects IN LISTS ops_objects)
    target_sources(${target} PRIVATE $<TARGET_OBJECTS:${objects}>)
  endforeach()
  if(TARGET kaio_ops_precompiled)
    target_sources(${target} PRIVATE $<TARGET_OBJECTS:kaio_ops_precompiled>)
    get_target_property(type ${target} TYPE)
    if(type STREQUAL "STATIC_LIBRARY")
      target_link_options(${target} INTERFACE LINKER:--undefined=kaio_precompiled_ops)
    endif()
  endif()
  set_target_properties(${target} PROPERTIES LINKER_LANGUAGE CXX)
  target_link_libraries(${target} PUBLIC kaio_dsl ${runtime})
  kaio_exports(${target} ${PROJECT_SOURCE_DIR}/src/ops/exports.map)
endfunction()

kaio_ops_library(kaio_ops kaio_runtime)
set_target_properties(kaio_ops PROPERTIES
  VERSION ${PROJECT_VERSION}
  SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})

# As kaio_runtime_archive.
get_target_property(type kaio_ops TYPE)
if(type STREQUAL "STATIC_LIBRARY")
  add_library(kaio_ops_archive ALIAS kaio_ops)
else()
  kaio_ops_library(kaio_ops_archive kaio_runtime_archive STATIC EXCLUDE_FROM_ALL)
endif()
