# The test programs under clang's AddressSanitizer and UndefinedBehaviorSanitizer: a share of them with each commit. The
# emulator's objects are those of the fuzzer, which makes them; so this comes after it.
set(programs)
foreach(group emulator unit driver_emulator driver kernels ops weights)
  if(TARGET kaio_test_${group})
    list(APPEND programs $<TARGET_FILE:kaio_test_${group}>)
  endif()
endforeach()
if(programs AND NOT BUILD_SHARED_LIBS AND CMAKE_GENERATOR STREQUAL "Ninja")
  add_test(NAME instrumented COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/instrumented/run.py
    ${PROJECT_BINARY_DIR} ${programs} ${round_of_script})
  kaio_turn_timeout(timeout 1800 12)
  set_tests_properties(instrumented PROPERTIES LABELS instrumented TIMEOUT ${timeout} PROCESSORS ${processors} DEPENDS fuzz
    SKIP_RETURN_CODE ${skipped})
  kaio_takes_turns(0 4 instrumented)
endif()
