# kaio_precompile_headers(target header...): with KAIO_PRECOMPILED_HEADERS or KAIO_QUICK_TOOLS, parses once these headers,
# which most files of the target include. REUSE_FROM and a target in place of headers: reuses that target's. No file may need
# it: CI's build with clang 19 precompiles none.
function(kaio_precompile_headers target)
  if(NOT ARGN OR NOT (KAIO_PRECOMPILED_HEADERS OR KAIO_QUICK_TOOLS))
    return()
  endif()
  if(ARGV1 STREQUAL REUSE_FROM)
    target_precompile_headers(${target} ${ARGN})
  else()
    set(headers ${ARGN})
    if(KAIO_HEADERS_OF_MACHINE)  # headers alone: each file that includes them compiles them, for seconds
      list(FILTER headers EXCLUDE REGEX "^<(fmt|spdlog)/")
    endif()
    target_precompile_headers(${target} PRIVATE ${headers})
  endif()
  if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
    target_compile_options(${target} PRIVATE -fpch-preprocess)  # so that ccache accepts a file that uses them
  else()
    target_compile_options(${target} PRIVATE "SHELL:-Xclang -fno-pch-timestamp")
  endif()
endfunction()

# kaio_join_sources(variable depth [alone]): with KAIO_QUICK_TOOLS, compiles the sources that the variable lists a folder at a
# time, in a file that includes them. Folders have this depth below src, or below the root. Most of a small file's compile
# time goes into headers that its neighbours include too. Names in one folder must therefore differ, also those in unnamed
# namespaces. Files that match the regular expression `alone`, such as large ones, are not joined.
function(kaio_join_sources variable depth)
  if(NOT KAIO_QUICK_TOOLS)
    return()
  endif()
  set(joined)
  set(names)
  foreach(source IN LISTS ${variable})
    get_filename_component(source ${source} ABSOLUTE)
    if(ARGN AND source MATCHES "${ARGN}")
      list(APPEND joined ${source})
      continue()
    endif()
    file(RELATIVE_PATH path ${PROJECT_SOURCE_DIR} ${source})
    string(REGEX REPLACE "^src/" "" path ${path})
    string(REPLACE "/" ";" folders ${path})
    list(POP_BACK folders)
    list(SUBLIST folders 0 ${depth} folders)
    list(JOIN folders _ name)
    list(APPEND names ${name})
    list(APPEND of_${name} "#include \"${path}\"\n")
  endforeach()
  list(REMOVE_DUPLICATES names)
  foreach(name IN LISTS names)
    list(JOIN of_${name} "" CONTENT)
    set(file ${CMAKE_CURRENT_BINARY_DIR}/joined/${variable}_${name}.cpp)
    file(CONFIGURE OUTPUT ${file} CONTENT "@CONTENT@" @ONLY)
    list(APPEND joined ${file})
  endforeach()
  set(${variable} ${joined} PARENT_SCOPE)
endfunction()

# kaio_quick(target optimisation [header...]): with KAIO_QUICK_TOOLS, for a first result soon after a clone, compiles the target
# with this optimisation (-O0, ...; if empty, that of the build). Other builds precompile the headers; joined files share
# theirs anyway.
function(kaio_quick target optimisation)
  if(NOT KAIO_QUICK_TOOLS)
    kaio_precompile_headers(${target} ${ARGN})
  else()
    target_compile_options(${target} PRIVATE ${optimisation})
    if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
      target_compile_options(${target} PRIVATE -Wno-subobject-linkage)  # the warning is meant for headers, not joined sources
    endif()
  endif()
endfunction()
