# tests/unit, tests/threads, tests/emulator, tests/mutants: Catch2 programs that need no GPU.

set(unit_headers unit/runtime/support.hpp)
set(threads_headers)
set(emulator_headers emulator/kernel.hpp)
set(mutants_headers)
foreach(group unit threads emulator mutants)
  kaio_catch_program(${group} ${${group}_headers})
  if(TARGET kaio_test_${group})
    set(command kaio_test_${group})
    if(group STREQUAL "mutants" AND KAIO_RANDOM_SEED)  # a third of the cases each day
      set(command Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/cases.py $<TARGET_FILE:kaio_test_mutants> "*"
        --share ${KAIO_RANDOM_SEED}/3)
    endif()
    add_test(NAME ${group} COMMAND ${command})
    set_tests_properties(${group} PROPERTIES LABELS ${group} TIMEOUT 600)
  endif()
endforeach()
if(TARGET kaio_test_mutants)  # reads the sources of kernels, by their names from the root on
  set_tests_properties(mutants PROPERTIES WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
endif()

# tests/weights: the reader of weight files, without the operations and the emulator.
if(KAIO_BUILD_WEIGHTS AND "weights" IN_LIST KAIO_TESTS)
  file(GLOB sources CONFIGURE_DEPENDS weights/*.cpp)
  add_executable(kaio_test_weights ${sources} $<TARGET_OBJECTS:kaio_weights_objects>)
  set_target_properties(kaio_test_weights PROPERTIES OUTPUT_NAME weights)
  target_include_directories(kaio_test_weights PRIVATE
    ${CMAKE_CURRENT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR})
  target_link_libraries(kaio_test_weights PRIVATE kaio_dsl kaio_device kaio_catch)
  # Catch2 and the headers once, for all of them; what is tested is optimised as it is everywhere.
  set_target_properties(kaio_test_weights PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 0)
  target_compile_options(kaio_test_weights PRIVATE -O0 -ffp-contract=off)
  kaio_warnings(kaio_test_weights)
  add_test(NAME weights COMMAND kaio_test_weights)
  set_tests_properties(weights PROPERTIES LABELS weights TIMEOUT 120)
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
