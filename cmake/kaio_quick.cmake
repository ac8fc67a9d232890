# kaio_precompile_headers(target header...): with KAIO_PRECOMPILED_HEADERS or KAIO_QUICK_TOOLS, these headers, which most
# files of the target include, are parsed once; REUSE_FROM and a target in place of headers: those of that one. A file must not
# need that: CI's build with clang 19 has none.
function(kaio_precompile_headers target)
  if(NOT ARGN OR NOT (KAIO_PRECOMPILED_HEADERS OR KAIO_QUICK_TOOLS))
    return()
  endif()
  if(ARGV1 STREQUAL REUSE_FROM)
    target_precompile_headers(${target} ${ARGN})
  else()
    target_precompile_headers(${target} PRIVATE ${ARGN})
  endif()
  if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
    target_compile_options(${target} PRIVATE -fpch-preprocess)  # so that ccache takes a file that uses them
  else()
    target_compile_options(${target} PRIVATE "SHELL:-Xclang -fno-pch-timestamp")
  endif()
endfunction()

# kaio_join_sources(variable depth [alone]): with KAIO_QUICK_TOOLS, the sources that the variable lists are compiled a folder at
# a time, in a file that includes them: folders are those of this depth below src, or below the root. Most of the time of a
# small file goes into headers that its neighbours include too. Names of one folder must differ for this, also those in
# unnamed namespaces; files that match the regular expression `alone`, such as large ones, stay what they are.
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

# kaio_quick(target optimisation [header...]): with KAIO_QUICK_TOOLS, for a first result soon after a clone, the target is
# compiled with this optimisation (-O0, ...; empty: that of the build). The headers are those to precompile in other builds: files that are joined share
# theirs.
function(kaio_quick target optimisation)
  if(NOT KAIO_QUICK_TOOLS)
    kaio_precompile_headers(${target} ${ARGN})
  else()
    target_compile_options(${target} PRIVATE ${optimisation})
    if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
      target_compile_options(${target} PRIVATE -Wno-subobject-linkage)  # it means headers, not joined sources
    endif()
  endif()
endfunction()
