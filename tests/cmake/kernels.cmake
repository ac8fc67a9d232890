# The same sources on the emulator, and on the first GPU when there is one.
foreach(group kernels ops)
  kaio_catch_program(${group})
  if(TARGET kaio_test_${group})
    add_test(NAME ${group}.emulator COMMAND kaio_test_${group})
    set_tests_properties(${group}.emulator PROPERTIES LABELS ${group} TIMEOUT 900
      ENVIRONMENT KAIO_DEVICE=emulator)
    add_test(NAME ${group}.gpu COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/on_gpu.py
      $<TARGET_FILE:kaio_test_${group}>)
    set_tests_properties(${group}.gpu PROPERTIES LABELS gpu TIMEOUT 900 ENVIRONMENT KAIO_DEVICE=cuda:0
      SKIP_RETURN_CODE ${skipped} RUN_SERIAL ON)
  endif()
endforeach()
if(TARGET kaio_test_kernels)
  add_test(NAME kernels.sanitized COMMAND kaio_test_kernels)
  set_tests_properties(kernels.sanitized PROPERTIES LABELS kernels TIMEOUT 900
    ENVIRONMENT "KAIO_DEVICE=emulator;KAIO_SANITIZE=all")
endif()
# The longest of them begin first, so that no core waits for the other at the end.
if(TARGET kaio_test_ops)
  # attention_with compiles kernels of more than clang's default number of steps.
  target_compile_options(kaio_test_ops PRIVATE ${KAIO_CONSTEXPR_FLAGS})
  # With every check of the emulator each test takes twice its time: a run with the seed of its day has attention on one
  # day, and the other operations on the next; without a seed, all of them.
  set(of_day "*")
  if(KAIO_RANDOM_SEED)
    math(EXPR turn "${KAIO_RANDOM_SEED} % 2")
    set(halves "~[attention]" "[attention]")
    list(GET halves ${turn} of_day)
  endif()
  add_test(NAME ops.sanitized COMMAND kaio_test_ops "${of_day}")
  set_tests_properties(ops.sanitized PROPERTIES LABELS ops TIMEOUT 1800 COST 500
    ENVIRONMENT "KAIO_DEVICE=emulator;KAIO_SANITIZE=all")
  set_tests_properties(ops.emulator PROPERTIES COST 400)
  # On the emulator's own architecture attention and its backward take the kernels for sm_90a.
  add_test(NAME ops.attention.sm_80 COMMAND kaio_test_ops
    "[attention]~attention: every kernel*,attention_backward: random*,attention_backward: edges*,attention_backward: a NaN*")
  foreach(architecture sm_70 sm_75 sm_86)  # which have not all types: their own kernels
    add_test(NAME ops.attention.${architecture} COMMAND kaio_test_ops
      "attention: every kernel*,attention_backward: edges*")
  endforeach()
  foreach(architecture sm_70 sm_75 sm_80 sm_86)
    set_tests_properties(ops.attention.${architecture} PROPERTIES LABELS ops TIMEOUT 900
      ENVIRONMENT "KAIO_DEVICE=emulator;KAIO_EMULATOR_ARCH=${architecture}")
  endforeach()
  # Rings between producers and consumers, under two schedules.
  foreach(order random:1 random:2)
    add_test(NAME ops.schedule.${order} COMMAND kaio_test_ops "sm_90a*,attention_backward for sm_90a*,attention: every kernel*,attention: block masks and head sizes")
    set_tests_properties(ops.schedule.${order} PROPERTIES LABELS schedules TIMEOUT 900
      ENVIRONMENT "KAIO_DEVICE=emulator;KAIO_SCHEDULE=${order}")
  endforeach()
endif()
# The kernels under eight schedules, about five seconds each: what they compute does not depend on the order of warps and
# blocks.
if(TARGET kaio_test_kernels)
  foreach(order reverse starve:1 random:1 random:2 random:3 random:4 random:5 random:6)
    add_test(NAME kernels.schedule.${order} COMMAND kaio_test_kernels)
    set_tests_properties(kernels.schedule.${order} PROPERTIES LABELS schedules TIMEOUT 900
      ENVIRONMENT "KAIO_DEVICE=emulator;KAIO_SCHEDULE=${order}")
  endforeach()
endif()

# The kernels through the driver's half of the runtime too.
if(TARGET kaio_test_kernels AND TARGET kaio_cuda_emulator)
  add_test(NAME kernels.driver COMMAND kaio_test_kernels)
  set_tests_properties(kernels.driver PROPERTIES LABELS kernels TIMEOUT 900
    ENVIRONMENT "KAIO_DEVICE=cuda:0;KAIO_CUDA_LIBRARY=$<TARGET_FILE:kaio_cuda_emulator>")
endif()
