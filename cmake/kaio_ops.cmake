# The operations. A source file below src/ops that lists kernels is a family: an object library of its own,
# kaio_ops_<family>. It has one of these functions, at the start of a line:
#   void add_<family>(variant_list& list) ...                                    rows of a table of variants
#   void list_<family>_kernels(std::vector<const ptx::kernel_image*>& list) ...  kernels that no table has
# CMake finds a new file by itself. The files of the kernels for sm_90a are made from the lines of choice/sm90_families.def.
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
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR}/src)
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
    kaio_precompile_headers(${target} <kaio/dsl/dsl.hpp> <ops/matmul/choice/table.hpp>)
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
  target_link_options(${target} PRIVATE -Wl,--gc-sections)
endfunction()

# kaio_trace_family(row): the program kaio_kernels_<family> writes the images of kaio_ops_<family>.
function(kaio_trace_family row)
  string(REGEX REPLACE "\\|.*" "" family "${row}")
  kaio_family_program(kaio_kernels_${family} "${row}" traced)
  set(images ${PROJECT_BINARY_DIR}/ops/images/${family})
  add_custom_command(OUTPUT ${images}.cpp ${images}.packed VERBATIM
    COMMAND ${CMAKE_COMMAND} -E make_directory ${PROJECT_BINARY_DIR}/ops/images
    COMMAND kaio_kernels_${family} images ${family} ${images}
    DEPENDS kaio_kernels_${family}
    COMMENT "Tracing the kernels of ${family}")
  set_source_files_properties(${images}.cpp PROPERTIES OBJECT_DEPENDS ${images}.packed SKIP_PRECOMPILE_HEADERS ON)
  target_sources(kaio_ops_${family} PRIVATE ${images}.cpp)
  target_include_directories(kaio_ops_${family} BEFORE PRIVATE ${PROJECT_SOURCE_DIR}/src/images/linked)
  kaio_share_headers(linked kaio_ops_${family})
endfunction()

set(KAIO_OPS_FAMILIES)  # rows: <family>|<source>|<function>|<type of its list>
set(ops_objects)
set(adder_of_rows "^void add_([a-z0-9_]+)\\(variant_list")
set(lister_of_kernels "^void list_([a-z0-9_]+)_kernels\\(std::vector")
foreach(source IN LISTS ops_sources)
  file(STRINGS ${source} function REGEX "${adder_of_rows}|${lister_of_kernels}")
  if(NOT function)
    continue()
  endif()
  # Only a run of CMake sees whether a file has kernels, and the name of its function.
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
  list(APPEND KAIO_OPS_FAMILIES "${family}|${source}|${function}|${list}")
  if(KAIO_BUILD_OPS)
    add_library(kaio_ops_${family} OBJECT ${source})
    list(APPEND ops_objects kaio_ops_${family})
    if(KAIO_TRACE_KERNELS)
      kaio_trace_family("${family}|${source}|${function}|${list}")
    endif()
  endif()
endforeach()

# The code that checks and chooses: the library without its kernels. A program that compiles the kernels itself, with
# attention_with, links only these objects.
add_library(kaio_ops_common OBJECT EXCLUDE_FROM_ALL ${ops_sources} ${PROJECT_SOURCE_DIR}/src/images/packed_text.cpp)
list(APPEND ops_objects kaio_ops_common)
add_library(kaio_ops_without_kernels INTERFACE)
target_sources(kaio_ops_without_kernels INTERFACE $<TARGET_OBJECTS:kaio_ops_common>)
target_link_options(kaio_ops_without_kernels INTERFACE LINKER:--gc-sections)

foreach(objects IN LISTS ops_objects)
  set_target_properties(${objects} PROPERTIES POSITION_INDEPENDENT_CODE ON)
  kaio_ops_settings(${objects})
endforeach()
if(NOT KAIO_BUILD_OPS)
  return()
endif()

# Machine code of these kernels. A program that is linked without the emulator, and launches none, prints them.
kaio_can_precompile()
if(KAIO_PRECOMPILES)
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
