# tests/trace: the file that KAIO_TRACE asks for, from the emulator and from the driver's side, and its picture in a browser.

if(CMAKE_SYSTEM_NAME STREQUAL "Linux" AND "driver" IN_LIST KAIO_TESTS AND TARGET kaio_cuda_emulator)
  add_executable(kaio_traced trace/traced.cpp)
  target_include_directories(kaio_traced PRIVATE ${PROJECT_SOURCE_DIR}/src)
  target_link_libraries(kaio_traced PRIVATE kaio_dsl kaio_runtime_archive Threads::Threads ${CMAKE_DL_LIBS})
  add_dependencies(kaio_traced kaio_cuda_emulator)
  kaio_warnings(kaio_traced)
  set(command Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/trace/trace_test.py $<TARGET_FILE:kaio_traced>
    $<TARGET_FILE:kaio_cuda_emulator>)
  add_test(NAME trace COMMAND ${command})
  add_test(NAME trace.delayed COMMAND ${command})
  set_tests_properties(trace.delayed PROPERTIES ENVIRONMENT KAIO_STREAMS=delayed)
  add_test(NAME trace.browser COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/trace/browser_test.py
    $<TARGET_FILE:kaio_traced>)
  set_tests_properties(trace.browser PROPERTIES SKIP_RETURN_CODE ${skipped})
  set_tests_properties(trace trace.delayed trace.browser PROPERTIES LABELS trace TIMEOUT 120)
  if(TARGET kaio_test_ops)
    add_test(NAME trace.ops COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/trace/trace_ops_test.py
      $<TARGET_FILE:kaio_test_ops>)
    set_tests_properties(trace.ops PROPERTIES LABELS trace TIMEOUT 300)
  endif()
endif()
