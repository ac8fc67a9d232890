# tests/unit, tests/threads, tests/emulator, tests/mutants: Catch2 programs that need no GPU.

set(unit_headers unit/runtime/support.hpp)
set(threads_headers)
set(emulator_headers emulator/kernel.hpp)
set(mutants_headers)
foreach(group unit threads emulator mutants)
  kaio_catch_program(${group} ${${group}_headers})
  if(TARGET kaio_test_${group})
    add_test(NAME ${group} COMMAND kaio_test_${group})
    set_tests_properties(${group} PROPERTIES LABELS ${group} TIMEOUT 600)
  endif()
endforeach()
if(TARGET kaio_test_mutants)  # reads the sources of kernels, by their names from the root on
  set_tests_properties(mutants PROPERTIES WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
endif()

if(TARGET kaio_test_unit AND ZLIB_FOUND)
  target_compile_definitions(kaio_test_unit PRIVATE KAIO_HAS_ZLIB)
endif()

# What threads may share, for ThreadSanitizer too: a build without the operations has what tuning found all the same.
if(TARGET kaio_test_threads AND NOT KAIO_BUILD_OPS)
  file(GLOB sources ${PROJECT_SOURCE_DIR}/src/ops/tune/*.cpp)
  target_sources(kaio_test_threads PRIVATE ${sources})
  target_compile_definitions(kaio_test_threads PRIVATE KAIO_VERSION="${PROJECT_VERSION}")
endif()
