# tests/abi: the symbols that the shared libraries export, and a program that is linked to them. A static build links
# shared ones of the same objects here.
if(TARGET kaio_cuda_emulator AND KAIO_BUILD_OPS AND KAIO_BUILD_WEIGHTS AND "abi" IN_LIST KAIO_TESTS)
  get_target_property(type kaio_runtime TYPE)
  set(suffix "")
  if(type STREQUAL "STATIC_LIBRARY")
    set(suffix _shared)
    kaio_runtime_library(kaio_runtime_shared SHARED)
    kaio_ops_library(kaio_ops_shared kaio_runtime_shared SHARED)
    kaio_weights_library(kaio_weights_shared kaio_runtime_shared SHARED)
  endif()
  add_executable(kaio_test_abi abi/client.cpp)
  set_target_properties(kaio_test_abi PROPERTIES OUTPUT_NAME abi_client)
  target_include_directories(kaio_test_abi PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
  target_link_libraries(kaio_test_abi PRIVATE kaio_ops${suffix} kaio_weights${suffix} kaio_runtime${suffix}
    kaio_catch)
  kaio_warnings(kaio_test_abi)
  add_test(NAME abi.client COMMAND kaio_test_abi)
  set_tests_properties(abi.client PROPERTIES LABELS abi TIMEOUT 60 ENVIRONMENT KAIO_DEVICE=emulator)
  add_test(NAME abi.symbols COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/abi/symbols.py
    $<TARGET_FILE:kaio_runtime${suffix}> $<TARGET_FILE:kaio_ops${suffix}> $<TARGET_FILE:kaio_weights${suffix}>
    $<TARGET_FILE:kaio_cuda_emulator>)
  set_tests_properties(abi.symbols PROPERTIES LABELS abi TIMEOUT 60 SKIP_RETURN_CODE ${skipped})
endif()
