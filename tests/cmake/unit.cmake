# tests/unit, tests/threads, tests/emulator, tests/mutants: Catch2 programs that need no GPU.

set(unit_headers unit/runtime/support.hpp)
set(threads_headers)
set(emulator_headers emulator/kernel.hpp)
set(mutants_headers)
foreach(group unit threads emulator mutants)
  kaio_catch_program(${group} ${${group}_headers})
  if(TARGET kaio_test_${group})
    set(command kaio_test_${group})
    if(group STREQUAL "mutants")
      set(share)
      if(has_turn)
        set(share --share ${round}/3)
      endif()
      set(command Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/cases.py $<TARGET_FILE:kaio_test_mutants> "*" ${share})
    endif()
    add_test(NAME ${group} COMMAND ${command})
    kaio_turn_timeout(timeout 600 3)
    set_tests_properties(${group} PROPERTIES LABELS ${group} TIMEOUT ${timeout})
  endif()
endforeach()
if(TARGET kaio_test_unit)
  target_compile_definitions(kaio_test_unit PRIVATE KAIO_TRACES_KERNELS=$<BOOL:${KAIO_TRACE_KERNELS}>)
endif()
if(TARGET kaio_test_mutants)  # reads the sources of kernels, by their names from the root on
  set_tests_properties(mutants PROPERTIES WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
  kaio_takes_turns(2 4 mutants)
  get_test_property(mutants LABELS labels)
  if("later" IN_LIST labels)
    set_target_properties(kaio_test_mutants PROPERTIES EXCLUDE_FROM_ALL ON)
  endif()
endif()

# tests/weights: the reader of weight files, without the operations and the emulator.
if(KAIO_BUILD_WEIGHTS AND "weights" IN_LIST KAIO_TESTS)
  file(GLOB sources CONFIGURE_DEPENDS weights/*.cpp)
  add_executable(kaio_test_weights ${sources} $<TARGET_OBJECTS:kaio_weights_objects>)
  set_target_properties(kaio_test_weights PROPERTIES OUTPUT_NAME weights)
  target_include_directories(kaio_test_weights PRIVATE
    ${CMAKE_CURRENT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR})
  target_link_libraries(kaio_test_weights PRIVATE kaio_dsl kaio_device kaio_catch)
  # Catch2 and the headers are compiled once, for all of them; the tested code is optimised as everywhere.
  set_target_properties(kaio_test_weights PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 0)
  target_compile_options(kaio_test_weights PRIVATE -O0 -ffp-contract=off)
  kaio_warnings(kaio_test_weights)
  add_test(NAME weights COMMAND kaio_test_weights)
  set_tests_properties(weights PROPERTIES LABELS weights TIMEOUT 120)
  # tests/reference: the answers of the package safetensors for the same files, where it is installed.
  add_executable(kaio_reference_safetensors reference/safetensors.cpp $<TARGET_OBJECTS:kaio_weights_objects>)
  target_link_libraries(kaio_reference_safetensors PRIVATE kaio_dsl kaio_device)
  kaio_warnings(kaio_reference_safetensors)
  add_test(NAME weights.reference COMMAND Python3::Interpreter
    ${CMAKE_CURRENT_SOURCE_DIR}/reference/safetensors.py $<TARGET_FILE:kaio_reference_safetensors>)
  set_tests_properties(weights.reference PROPERTIES LABELS weights TIMEOUT 120 SKIP_RETURN_CODE ${skipped})
endif()

if(TARGET kaio_test_unit AND ZLIB_FOUND)
  target_compile_definitions(kaio_test_unit PRIVATE KAIO_HAS_ZLIB)
endif()

# What threads may share, for ThreadSanitizer too. A build without the operations gets the sources of remembered
# tuning here.
if(TARGET kaio_test_threads AND NOT KAIO_BUILD_OPS)
  file(GLOB sources ${PROJECT_SOURCE_DIR}/src/ops/choice/*.cpp)
  target_sources(kaio_test_threads PRIVATE ${sources})
  target_compile_definitions(kaio_test_threads PRIVATE KAIO_VERSION="${PROJECT_VERSION}")
endif()
