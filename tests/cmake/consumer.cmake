# The files of docs/continuous_integration.md, with every fourth commit: the page's script downloads ptxas.
add_test(NAME continuous_integration COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/consumer/continuous_integration.py
  --work ${CMAKE_CURRENT_BINARY_DIR}/continuous_integration --compiler ${CMAKE_CXX_COMPILER})
set_tests_properties(continuous_integration PROPERTIES LABELS consumer TIMEOUT 600)
kaio_takes_turns(1 4 continuous_integration)

# tests/consumer: projects that use the installed package, or the source tree, in each supported way.
if(KAIO_INSTALL)
  set(prefix ${CMAKE_CURRENT_BINARY_DIR}/installed)
  add_test(NAME consumer.install COMMAND ${CMAKE_COMMAND} --install ${PROJECT_BINARY_DIR}
    --prefix ${prefix})
  set_tests_properties(consumer.install PROPERTIES LABELS consumer FIXTURES_SETUP installed_kaio)
  function(kaio_consumer_test name way compiler)
    add_test(NAME consumer.${name} COMMAND Python3::Interpreter
      ${CMAKE_CURRENT_SOURCE_DIR}/consumer/run.py ${way} --prefix ${prefix}
      --work ${CMAKE_CURRENT_BINARY_DIR}/consumer/${name}
      --cmake ${CMAKE_COMMAND} --compiler ${compiler} --flags=${CMAKE_CXX_FLAGS}
      --launcher=${CMAKE_CXX_COMPILER_LAUNCHER} --werror=${KAIO_WERROR} ${ARGN})
    set_tests_properties(consumer.${name} PROPERTIES LABELS consumer TIMEOUT 900
      FIXTURES_REQUIRED installed_kaio SKIP_RETURN_CODE ${skipped} ENVIRONMENT KAIO_DEVICE=emulator)
  endfunction()
  foreach(way find_package add_subdirectory fetch_content pkg_config)
    # The libraries of the emulator are compiled a second time with every tenth commit.
    set(brief)
    if(way STREQUAL "add_subdirectory" AND KAIO_TURN MATCHES "[1-9]$")
      set(brief --brief)
    endif()
    kaio_consumer_test(${way} ${way} ${CMAKE_CXX_COMPILER} ${brief})
  endforeach()
  # A copy of a showcase, built against the package, and one with a fault: one showcase with each commit.
  add_test(NAME consumer.showcases COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/consumer/showcases.py
    --prefix ${prefix} --work ${CMAKE_CURRENT_BINARY_DIR}/consumer/showcases --cmake ${CMAKE_COMMAND}
    --compiler ${CMAKE_CXX_COMPILER} --flags=${CMAKE_CXX_FLAGS} --launcher=${CMAKE_CXX_COMPILER_LAUNCHER} ${turn_of_script})
  set_tests_properties(consumer.showcases PROPERTIES LABELS consumer TIMEOUT 900 FIXTURES_REQUIRED installed_kaio
    SKIP_RETURN_CODE ${skipped})
  # The C interface in a project of C.
  if(TARGET kaio_c)
    add_test(NAME consumer.c COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/consumer/run_c.py
      --prefix ${prefix} --work ${CMAKE_CURRENT_BINARY_DIR}/consumer/c --cmake ${CMAKE_COMMAND} --cc ${KAIO_C_COMPILER})
    set_tests_properties(consumer.c PROPERTIES LABELS consumer TIMEOUT 120
      FIXTURES_REQUIRED installed_kaio SKIP_RETURN_CODE ${skipped} ENVIRONMENT KAIO_DEVICE=emulator)
  endif()
  # Installs of builds with each KAIO_BUILD_* off, from the files of this build: a third of them with each commit.
  if(NOT BUILD_SHARED_LIBS)
    get_target_property(parts kaio_to_install MANUALLY_ADDED_DEPENDENCIES)
    set(files)
    foreach(part IN LISTS parts)
      list(APPEND files $<TARGET_FILE:${part}>)
    endforeach()
    add_test(NAME consumer.install_is_whole COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/consumer/install.py
      --work ${CMAKE_CURRENT_BINARY_DIR}/consumer/install --cmake ${CMAKE_COMMAND} --compiler ${CMAKE_CXX_COMPILER}
      --flags=${CMAKE_CXX_FLAGS} --launcher=${CMAKE_CXX_COMPILER_LAUNCHER} --precompile=${KAIO_PRECOMPILE} ${turn_of_script} ${files})
    set_tests_properties(consumer.install_is_whole PROPERTIES LABELS consumer TIMEOUT 600)
  endif()
  # The package, used by another supported compiler: one of them with each commit.
  list(LENGTH KAIO_OTHER_COMPILERS count)
  set(compilers ${KAIO_OTHER_COMPILERS})
  if(count GREATER 1 AND has_turn)
    math(EXPR which "${turn} % ${count}")
    list(GET KAIO_OTHER_COMPILERS ${which} compilers)
  endif()
  foreach(compiler IN LISTS compilers)
    kaio_consumer_test(find_package.${compiler} find_package ${compiler})
  endforeach()
endif()
