# Windows with MinGW: what a build for it needs beyond that for Linux. docs/windows.md is its page.
set(KAIO_HEADERS_OF_MACHINE FALSE)
if(NOT MINGW)
  return()
endif()

# Objects with many templates pass the 32,767 sections of the usual format.
add_compile_options(-Wa,-mbig-obj)
# A program needs no DLL of the compiler.
if(PROJECT_IS_TOP_LEVEL)
  add_link_options(-static)
endif()

# kaio_headers_of_machine(target folder definition...): if there is no package for Windows, a library that is headers alone is
# taken from the machine that builds. A folder of links shows nothing else of that machine.
function(kaio_headers_of_machine target folder)
  if(TARGET ${target} OR NOT CMAKE_CROSSCOMPILING)
    return()
  endif()
  find_path(KAIO_HOST_${folder} ${folder} PATHS /usr/local/include /usr/include NO_DEFAULT_PATH NO_CMAKE_FIND_ROOT_PATH)
  mark_as_advanced(KAIO_HOST_${folder})
  if(NOT KAIO_HOST_${folder})
    return()
  endif()
  set(links ${PROJECT_BINARY_DIR}/headers_of_machine/${folder})
  file(MAKE_DIRECTORY ${links})
  file(CREATE_LINK ${KAIO_HOST_${folder}}/${folder} ${links}/${folder} SYMBOLIC)
  add_library(${target} INTERFACE IMPORTED GLOBAL)
  target_include_directories(${target} SYSTEM INTERFACE ${links})
  target_compile_definitions(${target} INTERFACE ${ARGN})
  set(KAIO_HEADERS_OF_MACHINE TRUE PARENT_SCOPE)
endfunction()

find_package(fmt QUIET CONFIG)
find_package(spdlog QUIET CONFIG)
find_package(Boost 1.74 QUIET CONFIG)
kaio_headers_of_machine(Boost::headers boost)
kaio_headers_of_machine(fmt::fmt fmt FMT_HEADER_ONLY)
kaio_headers_of_machine(spdlog::spdlog spdlog SPDLOG_HEADER_ONLY SPDLOG_FMT_EXTERNAL)
kaio_headers_of_machine(CLI11::CLI11 CLI)
kaio_headers_of_machine(Catch2::Catch2 catch2)
kaio_headers_of_machine(nlohmann_json::nlohmann_json nlohmann)

if(BUILD_SHARED_LIBS)
  message(FATAL_ERROR "kaio: on Windows the C++ libraries are static: configure without BUILD_SHARED_LIBS. kaio.dll has the C interface")
endif()

# kaio_drop_unused_code(target): a function that nothing calls is not linked, and may need what is not there, as with ELF. GNU's script
# for Windows keeps all functions: it keeps the tables for exceptions (.pdata), and a function's table refers to it.
execute_process(COMMAND ${CMAKE_LINKER} --verbose OUTPUT_VARIABLE script ERROR_QUIET)
if(script MATCHES "=====\n(.*)\n=====")
  set(script "${CMAKE_MATCH_1}")
  string(REGEX REPLACE "KEEP ?\\((\\*\\(\\.pdata\\*\\))\\)" "\\1" script "${script}")
  file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/unused_code.ld CONTENT "@script@\n" @ONLY)
endif()
function(kaio_drop_unused_code target)
  target_link_options(${target} PRIVATE LINKER:--gc-sections)
  if(EXISTS ${PROJECT_BINARY_DIR}/unused_code.ld)
    target_link_options(${target} PRIVATE LINKER:-T,${PROJECT_BINARY_DIR}/unused_code.ld)
  endif()
endfunction()

# kaio_utf8_program(target): its words, file names and variables are UTF-8, and its paths may be long.
enable_language(RC)
function(kaio_utf8_program target)
  target_sources(${target} PRIVATE ${PROJECT_SOURCE_DIR}/cmake/windows/utf8.rc)
endfunction()
