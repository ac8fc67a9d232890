# Files that must compile, and files that must not.

# tests/static: pure static_asserts.
file(GLOB_RECURSE static_sources CONFIGURE_DEPENDS static/*.cpp)
foreach(source IN LISTS static_sources)
  get_filename_component(stem ${source} NAME_WE)
  kaio_compile_test(static.${stem} static ${source})
endforeach()

# Literals keep their digits under a flag that shortens them.
kaio_compile_test(headers.f64_literals headers ${CMAKE_CURRENT_SOURCE_DIR}/headers/f64_literals.cpp)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  kaio_compile_test(headers.f64_literals.single_precision_constant headers
    ${CMAKE_CURRENT_SOURCE_DIR}/headers/f64_literals.cpp -fsingle-precision-constant)
endif()

# Each public header compiles alone, twice, and next to the macros of windows.h; in a run that has a turn a sixth of them by
# g++, and a third by clang.
file(GLOB_RECURSE headers CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR}/include
  ${PROJECT_SOURCE_DIR}/include/kaio/*.hpp)
set(number 0)
foreach(header IN LISTS headers)
  math(EXPR number "${number} + 1")
  if(has_turn)
    if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
      math(EXPR part "(${turn} + ${number}) % 6")
    else()
      math(EXPR part "(${round} / 2 + ${number}) % 3")
    endif()
    if(NOT part EQUAL 0)
      continue()
    endif()
  endif()
  string(REGEX REPLACE "^kaio/(.*)\\.hpp$" "\\1" name ${header})
  string(REPLACE "/" "." name ${name})
  configure_file(headers/alone.cpp.in ${CMAKE_CURRENT_BINARY_DIR}/headers/${name}.cpp @ONLY)
  kaio_compile_test(headers.${name} headers ${CMAKE_CURRENT_BINARY_DIR}/headers/${name}.cpp)
endforeach()

# A compiler that is too old, or was not asked for C++20 or for exceptions, ends after one sentence, whichever header comes
# first. This compiler says that it is older than it is; it had no whole C++20 then.
set(old "-std=c++17 -U__GNUC__ -D__GNUC__=11")
if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  set(old "-std=c++17 -U__clang_major__ -D__clang_major__=15")
endif()
foreach(header kaio dsl/dsl dsl/mma runtime/runtime runtime/stream ops/ops ptx/kernel_image tool/ptx_tool weights/weights)
  string(REPLACE "/" "." name ${header})
  file(WRITE ${CMAKE_CURRENT_BINARY_DIR}/headers/standard.${name}.cpp "#include <kaio/${header}.hpp>\n")
  foreach(flag -std=c++17 -fno-exceptions old)
    set(flags -std=c++20 ${flag})
    set(sentence "kaio: C\\+\\+20 is needed; compile with -std=c\\+\\+20")
    if(flag STREQUAL "-fno-exceptions")
      set(sentence "kaio: errors are exceptions; compile without -fno-exceptions")
    elseif(flag STREQUAL "old")
      separate_arguments(flags UNIX_COMMAND "${old}")
      set(sentence "kaio: this [a-z+]+ is too old; install [a-z+]+ 1[26] or newer")
    endif()
    set(test headers.standard.${name}.${flag})
    add_test(NAME ${test} COMMAND ${CMAKE_CXX_COMPILER} ${flags} -I${PROJECT_SOURCE_DIR}/include -fsyntax-only
      ${CMAKE_CURRENT_BINARY_DIR}/headers/standard.${name}.cpp)
    set_tests_properties(${test} PROPERTIES LABELS headers TIMEOUT 60
      PASS_REGULAR_EXPRESSION "${sentence}" FAIL_REGULAR_EXPRESSION "concept|constexpr|was not declared|unknown type")
  endforeach()
endforeach()

# CMake refuses the compilers that the headers refuse, and takes the oldest that kaio supports.
foreach(row IN ITEMS "GNU;11.4.0;12.1.0" "Clang;15.0.7;16.0.0")
  list(GET row 0 compiler)
  list(GET row 1 old)
  list(GET row 2 oldest)
  foreach(version IN ITEMS ${old} ${oldest})
    add_test(NAME headers.standard.cmake.${compiler}-${version} COMMAND ${CMAKE_COMMAND} -DCMAKE_CXX_COMPILER_ID=${compiler}
      -DCMAKE_CXX_COMPILER_VERSION=${version} -P ${PROJECT_SOURCE_DIR}/cmake/kaio_compiler.cmake)
    set_tests_properties(headers.standard.cmake.${compiler}-${version} PROPERTIES LABELS headers TIMEOUT 60)
  endforeach()
  set_tests_properties(headers.standard.cmake.${compiler}-${old} PROPERTIES
    PASS_REGULAR_EXPRESSION "kaio: this ${compiler} compiler is too old")
endforeach()

# tests/fail: files that must not compile, each on one of the compilers that are installed; half of them in a run that has a
# turn.
set(half)
if(has_turn)
  set(half --half)
endif()
add_test(NAME fail COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/fail/run.py ${half} ${turn_of_script})
kaio_turn_timeout(timeout 900 6)
set_tests_properties(fail PROPERTIES LABELS fail TIMEOUT ${timeout} PROCESSORS ${processors}
  SKIP_RETURN_CODE ${skipped})
