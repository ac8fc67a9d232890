# tests/once: each kernel of the operations is compiled once.
if(KAIO_BUILD_OPS AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # Headers of kernels, by g++: it evaluates the kernels that an inline function names, wherever it is included. Each commit
  # has the headers of a tenth of the operations.
  kaio_part(part --part 10)
  string(TOUPPER "${CMAKE_BUILD_TYPE}" type)
  separate_arguments(type_flags UNIX_COMMAND "${CMAKE_CXX_FLAGS_${type}}")
  set(compile_alone ${compile})
  list(REMOVE_ITEM compile_alone ${CMAKE_CXX_COMPILER_LAUNCHER})
  list(APPEND compile_alone ${type_flags} -I${PROJECT_SOURCE_DIR}/src -I${PROJECT_BINARY_DIR}/ops/include
    -DKAIO_ASSUME_SOUND)
  add_test(NAME once.headers COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/once/headers.py ${part}
    -- ${compile_alone})
  add_test(NAME once.refused COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/once/headers.py
    tests/once/refused.hpp -- ${compile_alone})
  set_tests_properties(once.headers once.refused PROPERTIES LABELS once TIMEOUT 900)
  set_tests_properties(once.refused PROPERTIES
    PASS_REGULAR_EXPRESSION "FAIL tests/once/refused.hpp: 1 kernels are instantiated: refused")

  set(objects "")
  foreach(row IN LISTS KAIO_OPS_FAMILIES)
    string(REGEX REPLACE "\\|.*" "" family "${row}")
    string(APPEND objects "${family} $<JOIN:$<TARGET_OBJECTS:kaio_ops_${family}>,\n${family} >\n")
  endforeach()
  string(APPEND objects "- $<JOIN:$<TARGET_OBJECTS:kaio_ops_common>,\n- >\n")
  file(GENERATE OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/once/objects.txt CONTENT "${objects}")
  add_test(NAME once.objects COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/once/objects.py
    $<TARGET_FILE:kaio_ops> ${CMAKE_CURRENT_BINARY_DIR}/once/objects.txt ${PROJECT_SOURCE_DIR}/tools/registry/kernels.txt)
  add_test(NAME once.objects_test COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/once/objects_test.py
    ${compile_alone})
  set_tests_properties(once.objects once.objects_test PROPERTIES LABELS once TIMEOUT 120 SKIP_RETURN_CODE ${skipped})
endif()
