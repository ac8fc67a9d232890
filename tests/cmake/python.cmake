# tests/python: the wheel, which is linked of this build, in fresh environments of several Pythons with NumPy and PyTorch.
if(TARGET kaio_c)
  set(on_emulator)
  if(TARGET kaio_program AND TARGET kaio_cuda_emulator)
    set(on_emulator --program $<TARGET_FILE:kaio_program> --emulator $<TARGET_FILE:kaio_cuda_emulator>)
  endif()
  add_test(NAME python COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/python/wheel/environments.py
    --library $<TARGET_FILE:kaio_c> --work ${CMAKE_CURRENT_BINARY_DIR}/python ${on_emulator} ${turn_of_script})
  kaio_turn_timeout(timeout 1800 4)
  set_tests_properties(python PROPERTIES LABELS python TIMEOUT ${timeout} SKIP_RETURN_CODE ${skipped} PROCESSORS ${processors})
endif()
