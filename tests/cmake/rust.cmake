# bindings/rust: the crates, tested with cargo where it is. The feature `link`, the oldest Rust and the style take turns.
if(TARGET kaio_c)
  add_test(NAME rust.made COMMAND Python3::Interpreter ${PROJECT_SOURCE_DIR}/bindings/rust/generate.py --check)
  set_tests_properties(rust.made PROPERTIES LABELS rust TIMEOUT 60)
  set_tests_properties(c.kernels PROPERTIES FIXTURES_SETUP kernel_library)  # it compiles libkernels.so
  foreach(part tests link oldest style)
    add_test(NAME rust.${part} COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/rust/run.py ${part}
      --library $<TARGET_FILE:kaio_c> --work ${CMAKE_CURRENT_BINARY_DIR}/rust
      --kernels ${CMAKE_CURRENT_BINARY_DIR}/c/libkernels.so --cxx ${CMAKE_CXX_COMPILER})
    set_tests_properties(rust.${part} PROPERTIES LABELS rust TIMEOUT 600 SKIP_RETURN_CODE ${skipped}
      FIXTURES_REQUIRED kernel_library RESOURCE_LOCK cargo)
  endforeach()
  kaio_takes_turns(0 3 rust.link)
  kaio_takes_turns(1 3 rust.oldest)
  kaio_takes_turns(2 3 rust.style)
endif()
