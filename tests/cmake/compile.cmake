# What must compile, and what must not.

# tests/static: pure static_asserts.
file(GLOB_RECURSE static_sources CONFIGURE_DEPENDS static/*.cpp)
foreach(source IN LISTS static_sources)
  get_filename_component(stem ${source} NAME_WE)
  kaio_compile_test(static.${stem} static ${source})
endforeach()

# A build of the registry without the operations compiles one file of each family of their kernels all the same.
if(TARGET kaio_kernels AND NOT KAIO_BUILD_OPS)
  foreach(source mma_sync/sm75 simt/any simt/skinny)
    string(REPLACE "/" "_" name ${source})
    kaio_compile_test(ops.${name} static ${PROJECT_SOURCE_DIR}/src/ops/matmul/${source}.cpp
      -I${PROJECT_SOURCE_DIR}/src ${KAIO_CONSTEXPR_FLAGS})
  endforeach()
  kaio_compile_test(ops.sm90_rows_f16 static ${PROJECT_BINARY_DIR}/ops/sm90_rows_f16.cpp
    -I${PROJECT_SOURCE_DIR}/src ${KAIO_CONSTEXPR_FLAGS})
  set_tests_properties(ops.sm90_rows_f16 PROPERTIES COST 100)  # the longest: it begins first
endif()

# Each public header compiles alone, and twice; in a run with the seed of its day a third of them by g++, and the others by
# clang.
file(GLOB_RECURSE headers CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR}/include
  ${PROJECT_SOURCE_DIR}/include/kaio/*.hpp)
set(number 0)
foreach(header IN LISTS headers)
  math(EXPR number "${number} + 1")
  if(KAIO_RANDOM_SEED)
    math(EXPR turn "(${KAIO_RANDOM_SEED} + ${number}) % 3")
    set(compiles Clang)
    if(turn EQUAL 0)
      set(compiles GNU)
    endif()
    if(NOT CMAKE_CXX_COMPILER_ID MATCHES ${compiles})
      continue()
    endif()
  endif()
  string(REGEX REPLACE "^kaio/(.*)\\.hpp$" "\\1" name ${header})
  string(REPLACE "/" "." name ${name})
  configure_file(headers/alone.cpp.in ${CMAKE_CURRENT_BINARY_DIR}/headers/${name}.cpp @ONLY)
  kaio_compile_test(headers.${name} headers ${CMAKE_CURRENT_BINARY_DIR}/headers/${name}.cpp)
endforeach()

# A compiler that was not asked for C++20, or not for exceptions, ends after one sentence, whichever header comes first.
foreach(header kaio dsl/dsl dsl/mma runtime/runtime runtime/stream ops/ops ptx/kernel_image tool/ptx_tool weights/weights)
  string(REPLACE "/" "." name ${header})
  file(WRITE ${CMAKE_CURRENT_BINARY_DIR}/headers/standard.${name}.cpp "#include <kaio/${header}.hpp>\n")
  foreach(flag -std=c++17 -fno-exceptions)
    set(sentence "kaio: C\\+\\+20 is needed; compile with -std=c\\+\\+20")
    if(flag STREQUAL "-fno-exceptions")
      set(sentence "kaio: exceptions are needed, .*compile without -fno-exceptions")
    endif()
    set(test headers.standard.${name}.${flag})
    add_test(NAME ${test} COMMAND ${CMAKE_CXX_COMPILER} -std=c++20 ${flag} -I${PROJECT_SOURCE_DIR}/include -fsyntax-only
      ${CMAKE_CURRENT_BINARY_DIR}/headers/standard.${name}.cpp)
    set_tests_properties(${test} PROPERTIES LABELS headers TIMEOUT 60
      PASS_REGULAR_EXPRESSION "${sentence}" FAIL_REGULAR_EXPRESSION "concept|constexpr|was not declared|unknown type")
  endforeach()
endforeach()

# tests/fail: files that must not compile, each on one of the compilers that are installed; half of them in a run with the
# seed of its day.
set(half)
if(KAIO_RANDOM_SEED)
  set(half --half)
endif()
add_test(NAME fail COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/fail/run.py ${half})
set_tests_properties(fail PROPERTIES LABELS fail TIMEOUT 900 PROCESSORS ${processors}
  SKIP_RETURN_CODE ${skipped})
