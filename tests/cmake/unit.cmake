# tests/unit, tests/emulator, tests/mutants: Catch2 programs that need no GPU.

foreach(group unit emulator mutants)
  kaio_catch_program(${group})
  if(TARGET kaio_test_${group})
    add_test(NAME ${group} COMMAND kaio_test_${group})
    set_tests_properties(${group} PROPERTIES LABELS ${group} TIMEOUT 600)
  endif()
endforeach()
