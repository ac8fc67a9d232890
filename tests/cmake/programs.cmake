# The command line of the emulator, and the pictures of layouts.
if(TARGET kaio_program)
  add_test(NAME emulate COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/emulate.py
    $<TARGET_FILE:kaio_program>)
  set_tests_properties(emulate PROPERTIES LABELS emulator TIMEOUT 300)
  add_test(NAME layout COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/layout.py
    $<TARGET_FILE:kaio_program>)
  set_tests_properties(layout PROPERTIES LABELS rules TIMEOUT 300)
  if(KAIO_BUILD_WEIGHTS)
    add_test(NAME weights.program COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/weights.py
      $<TARGET_FILE:kaio_program>)
    set_tests_properties(weights.program PROPERTIES LABELS weights TIMEOUT 120)
  endif()
endif()
