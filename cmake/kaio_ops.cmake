# The operations. src/ops/families.cmake lists the families of their kernels (kaio_families.cmake); a family is an object
# library of its own, kaio_ops_<family>.
#
# With KAIO_TRACE_KERNELS each family also has a program, kaio_kernels_<family>. It traces the kernels when it runs, and
# writes their images for the library (src/images/). The texts are those that the compiler evaluates, byte for byte
# (tests/constants.py).

set(trace_kernels ON)
if(CMAKE_CROSSCOMPILING OR WIN32)
  set(trace_kernels OFF)  # the programs must run here, and the assembler must know ELF
endif()
option(KAIO_TRACE_KERNELS
  "Programs make the images of the operations' kernels while kaio is built; OFF: the compiler evaluates them, which takes longer"
  ${trace_kernels})

set(KAIO_IMAGES_FROM "" CACHE PATH
  "A finished build folder of these sources for this machine: a build for another system takes the texts of the kernels from it")
if(KAIO_IMAGES_FROM)
  get_filename_component(KAIO_IMAGES_FROM ${KAIO_IMAGES_FROM} ABSOLUTE BASE_DIR ${PROJECT_SOURCE_DIR})
  if(NOT EXISTS ${KAIO_IMAGES_FROM}/ops/images)
    message(FATAL_ERROR "kaio: ${KAIO_IMAGES_FROM} (KAIO_IMAGES_FROM) has no images of kernels: it is no build folder of kaio, or is not built")
  endif()
endif()

file(GLOB_RECURSE ops_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/ops/*.cpp)
include(${PROJECT_SOURCE_DIR}/cmake/kaio_families.cmake)
include(${PROJECT_SOURCE_DIR}/cmake/kaio_kernels_from.cmake)

# Packed texts are compressed if the runtime has zlib.
if(KAIO_ZLIB)
  set_source_files_properties(src/images/packed_text.cpp PROPERTIES COMPILE_DEFINITIONS KAIO_HAS_ZLIB)
endif()

# The parts of a family's program apart from the family.
add_library(kaio_family_main STATIC EXCLUDE_FROM_ALL src/images/family_main.cpp src/images/native_kernel.cpp
  src/images/packed_text.cpp src/images/write_images.cpp)
target_include_directories(kaio_family_main PRIVATE ${PROJECT_SOURCE_DIR}/src)
target_compile_options(kaio_family_main PRIVATE -O2)
target_link_libraries(kaio_family_main PUBLIC kaio_ptx_tool ${KAIO_ZLIB})
kaio_warnings(kaio_family_main)

# kaio_ops_settings(target): how files of the operations are compiled.
function(kaio_ops_settings target)
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR}/src ${PROJECT_BINARY_DIR}/ops/include)
  # The programs of the families probe these kernels, in a thousandth of the time that a compiler needs.
  target_compile_definitions(${target} PRIVATE KAIO_VERSION="${PROJECT_VERSION}" KAIO_ASSUME_SOUND)
  kaio_warnings(${target})
  # Each function and constant has a section: code that refers to the rest of the library is not linked into a program that
  # lists kernels.
  target_compile_options(${target} PRIVATE ${KAIO_CONSTEXPR_FLAGS} -ffunction-sections -fdata-sections)
  target_link_libraries(${target} PRIVATE kaio_dsl)
endfunction()

# kaio_share_headers(kind target): the first target of a kind precompiles the headers that all families include; the others
# reuse them.
function(kaio_share_headers kind target)
  get_property(first GLOBAL PROPERTY KAIO_FIRST_FAMILY_${kind})
  if(first)
    kaio_precompile_headers(${target} REUSE_FROM ${first})
  else()
    set_property(GLOBAL PROPERTY KAIO_FIRST_FAMILY_${kind} ${target})
    kaio_precompile_headers(${target} <kaio/dsl/dsl.hpp> <kaio/ops/matmul/choice/variant.hpp>
      <kaio/ops/matmul/common/tile_terms.hpp> <span> <string> <vector>)
  endif()
endfunction()

# kaio_family_program(target row kind): a program with the kernels of a row of KAIO_OPS_FAMILIES. kind: `traced`, if it makes
# their texts when it runs, or `constant`, if the compiler makes them.
function(kaio_family_program target row kind)
  string(REPLACE "|" ";" row "${row}")
  list(POP_FRONT row family source function list)
  set(listed ${PROJECT_BINARY_DIR}/ops/listed/${family}.cpp)
  # By the name below src, which the include path finds: the same text in every clone, for ccache, and the same file names in
  # the lines that kernels record.
  string(REPLACE "${PROJECT_SOURCE_DIR}/src/" "" source ${source})
  configure_file(${PROJECT_SOURCE_DIR}/cmake/family.cpp.in ${listed} @ONLY)
  add_library(${target}_objects OBJECT EXCLUDE_FROM_ALL ${listed})
  kaio_ops_settings(${target}_objects)
  if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
    target_compile_options(${target}_objects PRIVATE -Wno-subobject-linkage)  # it is meant for headers, not included sources
  endif()
  if(kind STREQUAL traced)
    target_include_directories(${target}_objects BEFORE PRIVATE ${PROJECT_SOURCE_DIR}/src/images/traced)
    target_compile_options(${target}_objects PRIVATE -O0)  # it runs for some milliseconds
    kaio_share_headers(traced ${target}_objects)
  endif()
  # The code that launches its kernels is linked, but never called.
  add_executable(${target} EXCLUDE_FROM_ALL $<TARGET_OBJECTS:${target}_objects>)
  set_target_properties(${target} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tools LINKER_LANGUAGE CXX)
  target_link_libraries(${target} PRIVATE kaio_family_main kaio_device)
  if(WIN32)
    kaio_drop_unused_code(${target})
  else()
    target_link_options(${target} PRIVATE -Wl,--gc-sections)
  endif()
endfunction()

# kaio_trace_family(row): the program kaio_kernels_<family> writes the images of kaio_ops_<family>. If it cannot run here, the
# images come from another build (KAIO_IMAGES_FROM).
function(kaio_trace_family row)
  string(REGEX REPLACE "\\|.*" "" family "${row}")
  kaio_family_program(kaio_kernels_${family} "${row}" traced)
  set(folder ${PROJECT_BINARY_DIR}/ops/images)
  set(images ${folder}/${family})
  set(traced ${images})
  if(WIN32)
    string(APPEND folder /traced)
    set(traced ${folder}/${family})
  endif()
  if(KAIO_IMAGES_FROM)
    set(traced ${KAIO_IMAGES_FROM}/ops/images/${family})
  else()
    add_custom_command(OUTPUT ${traced}.cpp ${traced}.packed VERBATIM
      COMMAND ${CMAKE_COMMAND} -E make_directory ${folder}
      COMMAND kaio_kernels_${family} images ${family} ${traced}
      DEPENDS kaio_kernels_${family}
      COMMENT "Tracing the kernels of ${family}")
  endif()
  if(WIN32)
    set(script ${PROJECT_SOURCE_DIR}/cmake/windows/images.cmake)
    add_custom_command(OUTPUT ${images}.cpp VERBATIM
      COMMAND ${CMAKE_COMMAND} -DFROM=${traced}.cpp -DTO=${images}.cpp -P ${script}
      DEPENDS ${traced}.cpp ${traced}.packed ${script})
  endif()
  set_source_files_properties(${images}.cpp PROPERTIES OBJECT_DEPENDS ${traced}.packed SKIP_PRECOMPILE_HEADERS ON)
  target_sources(kaio_ops_${family} PRIVATE ${images}.cpp)
  target_include_directories(kaio_ops_${family} BEFORE PRIVATE ${PROJECT_SOURCE_DIR}/src/images/linked)
  kaio_share_headers(linked kaio_ops_${family})
endfunction()

set(kernel_objects)
foreach(row IN LISTS KAIO_OPS_FAMILIES)
  string(REGEX MATCH "^([^|]*)\\|([^|]*)" unused "${row}")
  set(family ${CMAKE_MATCH_1})
  set(source ${CMAKE_MATCH_2})
  list(REMOVE_ITEM ops_sources ${source})
  if(KAIO_BUILD_OPS AND NOT KAIO_KERNELS_FROM)
    add_library(kaio_ops_${family} OBJECT ${source})
    list(APPEND kernel_objects kaio_ops_${family})
    if(KAIO_TRACE_KERNELS OR KAIO_IMAGES_FROM)
      kaio_trace_family("${row}")
    endif()
  endif()
endforeach()

# The code that checks and chooses: the library without its kernels. A program that compiles the kernels itself, with
# attention_with, links only these objects.
if(NOT WIN32)  # the runtime has them too; MinGW's linker refuses a program that finds them in both
  kaio_host_sources(ops_sources private_folder rights)
endif()
add_library(kaio_ops_common OBJECT EXCLUDE_FROM_ALL ${ops_sources} ${PROJECT_SOURCE_DIR}/src/images/packed_text.cpp)
add_library(kaio_ops_without_kernels INTERFACE)
target_sources(kaio_ops_without_kernels INTERFACE $<TARGET_OBJECTS:kaio_ops_common>)
target_link_options(kaio_ops_without_kernels INTERFACE LINKER:--gc-sections)

foreach(objects IN ITEMS ${kernel_objects} kaio_ops_common)
  set_target_properties(${objects} PROPERTIES POSITION_INDEPENDENT_CODE ON)
  kaio_ops_settings(${objects})
endforeach()
if(NOT KAIO_BUILD_OPS)
  return()
endif()

if(KAIO_KERNELS_FROM)
  kaio_import_kernels(kernel_objects)
endif()
set(ops_objects ${kernel_objects} kaio_ops_common)

# Machine code of these kernels. A program that is linked without the emulator, and launches none, prints them.
kaio_can_precompile()
if(KAIO_PRECOMPILES AND NOT KAIO_KERNELS_FROM)
  add_executable(kaio_ops_kernels EXCLUDE_FROM_ALL ${PROJECT_SOURCE_DIR}/tools/ops_kernels.cpp)
  foreach(objects IN LISTS ops_objects)
    target_sources(kaio_ops_kernels PRIVATE $<TARGET_OBJECTS:${objects}>)
  endforeach()
  target_include_directories(kaio_ops_kernels PRIVATE ${PROJECT_SOURCE_DIR}/src)
  target_link_libraries(kaio_ops_kernels PRIVATE kaio_ptx_tool kaio_device)
  kaio_warnings(kaio_ops_kernels)
  set(parts)
  if(KAIO_TRACE_KERNELS)
    set(parts ${KAIO_OPS_FAMILIES})
    list(TRANSFORM parts REPLACE "\\|.*" "")
    list(TRANSFORM parts PREPEND kaio_kernels_)
  endif()
  kaio_precompiled_source(source ops kaio_ops_kernels PARTS ${parts} ARCHITECTURES ${KAIO_PRECOMPILE_ARCHITECTURES})
  add_library(kaio_ops_precompiled OBJECT ${source})
  set_target_properties(kaio_ops_precompiled PROPERTIES POSITION_INDEPENDENT_CODE ON)
  target_link_libraries(kaio_ops_precompiled PRIVATE kaio_dsl)
  kaio_warnings(kaio_ops_precompiled)
endif()

if(NOT KAIO_KERNELS_FROM)
  kaio_export_kernels(${kernel_objects})
endif()

# kaio_ops_library(target runtime [type]): a library of all these objects that links the given library of the runtime.
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
  target_link_libraries(${target} PUBLIC kaio_dsl ${runtime} PRIVATE ${KAIO_ZLIB})
  kaio_exports(${target} ${PROJECT_SOURCE_DIR}/src/ops/exports.map)
endfunction()

kaio_ops_library(kaio_ops kaio_runtime)
set_target_properties(kaio_ops PROPERTIES
  VERSION ${PROJECT_VERSION}
  SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})

# Like kaio_runtime_archive.
get_target_property(type kaio_ops TYPE)
if(type STREQUAL "STATIC_LIBRARY")
  add_library(kaio_ops_archive ALIAS kaio_ops)
else()
  kaio_ops_library(kaio_ops_archive kaio_runtime_archive STATIC EXCLUDE_FROM_ALL)
endif()
