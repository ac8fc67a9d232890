# tests/consumer: projects that use the installed package, or the source tree, in each supported way.
if(KAIO_INSTALL)
  set(prefix ${CMAKE_CURRENT_BINARY_DIR}/installed)
  add_test(NAME consumer.install COMMAND ${CMAKE_COMMAND} --install ${PROJECT_BINARY_DIR}
    --prefix ${prefix})
  set_tests_properties(consumer.install PROPERTIES LABELS consumer FIXTURES_SETUP installed_kaio)
  foreach(way find_package add_subdirectory fetch_content pkg_config)
    add_test(NAME consumer.${way} COMMAND Python3::Interpreter
      ${CMAKE_CURRENT_SOURCE_DIR}/consumer/run.py ${way} --prefix ${prefix}
      --work ${CMAKE_CURRENT_BINARY_DIR}/consumer/${way}
      --cmake ${CMAKE_COMMAND} --compiler ${CMAKE_CXX_COMPILER} --flags=${CMAKE_CXX_FLAGS}
      --launcher=${CMAKE_CXX_COMPILER_LAUNCHER} --werror=${KAIO_WERROR})
    set_tests_properties(consumer.${way} PROPERTIES LABELS consumer TIMEOUT 900
      FIXTURES_REQUIRED installed_kaio SKIP_RETURN_CODE ${skipped} ENVIRONMENT KAIO_DEVICE=emulator)
  endforeach()
endif()
