# bindings/rust/kaio-candle with the stand-in of candle, on CPU tensors and on CUDA tensors of the emulated driver. Both take turns.
if(TARGET kaio_c AND TARGET kaio_cuda_emulator)
  foreach(part tests style)
    add_test(NAME rust.candle_${part} COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/rust/candle.py ${part}
      --library $<TARGET_FILE:kaio_c> --driver $<TARGET_FILE:kaio_cuda_emulator>
      --work ${CMAKE_CURRENT_BINARY_DIR}/rust_candle)
    set_tests_properties(rust.candle_${part} PROPERTIES LABELS rust TIMEOUT 600 SKIP_RETURN_CODE ${skipped} RESOURCE_LOCK cargo)
  endforeach()
  kaio_takes_turns(1 3 rust.candle_tests)
  kaio_takes_turns(2 3 rust.candle_style)
  # Skipped where the sources of candle and cudarc are not.
  add_test(NAME rust.candle_signatures COMMAND Python3::Interpreter
    ${PROJECT_SOURCE_DIR}/bindings/rust/candle-stand-in/signatures.py)
  set_tests_properties(rust.candle_signatures PROPERTIES LABELS rust TIMEOUT 60 SKIP_RETURN_CODE ${skipped})
endif()
