# tests/ptx: every kernel of the repository through ptxas, for every target that it runs on. A run that has a turn takes sm_90
# and one other, and prints an eighth of the kernels. `tools/kaio verify` has all of them.
add_test(NAME ptx.verify COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/ptx/verify_test.py)
set_tests_properties(ptx.verify PROPERTIES LABELS ptx TIMEOUT 60)
if(TARGET kaio_kernels)
  set(kernels ${CMAKE_CURRENT_BINARY_DIR}/ptx)
  add_test(NAME tool.dump COMMAND kaio_kernels dump ${kernels})
  set_tests_properties(tool.dump PROPERTIES LABELS ptx FIXTURES_SETUP dumped_kernels)
  kaio_part(share --share 8)
  set(targets)
  if(share)
    set(targets ${turn_of_script})
  endif()
  kaio_turn_timeout(timeout 900 4)
  set(kept)
  if(TARGET kaio_ops_precompiled)
    set(kept --kept ${PROJECT_BINARY_DIR}/precompiled/ops/ptx/cubin)
  endif()
  add_test(NAME ptx COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/ptx/verify.py ${kernels}
    --spills ${CMAKE_CURRENT_SOURCE_DIR}/ptx/spills.txt ${targets} ${kept})
  set_tests_properties(ptx PROPERTIES LABELS ptx TIMEOUT ${timeout} PROCESSORS ${processors}
    SKIP_RETURN_CODE ${skipped} FIXTURES_REQUIRED dumped_kernels)
  kaio_identical_test(kernels ptx dumped_kernels)
  add_test(NAME tool COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/tool.py ${share}
    $<TARGET_FILE:kaio_kernels> $<TARGET_FILE:kaio_doctor>
    $<$<BOOL:${KAIO_BUILD_OPS}>:${PROJECT_SOURCE_DIR}/tools/registry/kernels.txt>)
  set_tests_properties(tool PROPERTIES LABELS ptx)
endif()

# The machine code that the operations carry: tests/ptx/precompile_test.py.
if(TARGET kaio_ops_precompiled)
  set(folder ${PROJECT_BINARY_DIR}/precompiled/ops)
  add_test(NAME ptx.precompiled COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/ptx/precompile_test.py
    ${folder}/ptx ${folder}/kernels.code ${KAIO_PRECOMPILE_ARCHITECTURES})
  set_tests_properties(ptx.precompiled PROPERTIES LABELS ptx TIMEOUT 120 ENVIRONMENT KAIO_PTXAS=$ENV{KAIO_PTXAS})
endif()
