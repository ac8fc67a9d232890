# The same sources on the emulator, and on the first GPU when there is one.
foreach(group kernels ops)
  kaio_catch_program(${group} ${group}/support.hpp)
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
  if(KAIO_BUILD_WEIGHTS)  # whose decoders are what the device is compared with
    target_link_libraries(kaio_test_ops PRIVATE kaio_weights_archive)
  endif()
  # What is run again in another way is a share of the cases in a run with the seed of its day, another one every day;
  # without a seed, all of them: with every check of the emulator, on the architectures before its own, for which
  # attention takes other kernels, and rings between producers and consumers under two schedules.
  function(kaio_share_of_ops name filter first shares)
    set(turn 0)
    if(KAIO_RANDOM_SEED)
      math(EXPR turn "${KAIO_RANDOM_SEED} + ${first}")
    else()
      set(shares 1)
    endif()
    add_test(NAME ops.${name} COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/cases.py
      $<TARGET_FILE:kaio_test_ops> ${filter} --share ${turn}/${shares} ${ARGN})
    set_tests_properties(ops.${name} PROPERTIES LABELS ops TIMEOUT 1800)
  endfunction()
  kaio_share_of_ops(sanitized "*" 0 8)
  set_tests_properties(ops.sanitized PROPERTIES COST 500 ENVIRONMENT "KAIO_DEVICE=emulator;KAIO_SANITIZE=all")
  set_tests_properties(ops.emulator PROPERTIES COST 400 TIMEOUT 1800)
  kaio_share_of_ops(attention.sm_80 "[attention],[attention_backward],attention_decode: a contiguous cache,attention_decode: every kernel*" 0 3 --without "attention: every kernel")
  foreach(architecture sm_70 sm_75 sm_86)  # which have not all types: their own kernels
    kaio_share_of_ops(attention.${architecture} "attention: every kernel*,attention_backward: edges*,attention_decode: a contiguous cache,attention_decode: the same parts*" 0 1)
  endforeach()
  foreach(architecture sm_70 sm_75 sm_80 sm_86)
    set_tests_properties(ops.attention.${architecture} PROPERTIES
      ENVIRONMENT "KAIO_DEVICE=emulator;KAIO_EMULATOR_ARCH=${architecture}")
  endforeach()
  # Which has instructions for 8-bit floats: its own kernels for caches of them.
  kaio_share_of_ops(attention_decode.sm_89 "attention_decode: every kernel*" 0 1)
  set_tests_properties(ops.attention_decode.sm_89 PROPERTIES
    ENVIRONMENT "KAIO_DEVICE=emulator;KAIO_EMULATOR_ARCH=sm_89")
  foreach(architecture sm_70 sm_75)  # products of 8 and 4 bits by multiply-adds
    kaio_share_of_ops(quantised.${architecture} "[int8],[fp8],[w4],[w8],[quantised],matmul: a type that the device*,qkv_project: a type that the device*,qkv_project: into caches*,gate_up_project: activations" 0 1)
    set_tests_properties(ops.quantised.${architecture} PROPERTIES
      ENVIRONMENT "KAIO_DEVICE=emulator;KAIO_EMULATOR_ARCH=${architecture}")
  endforeach()
  kaio_share_of_ops(cache.sm_80 "[cache]" 0 1)  # without instructions for 8-bit floats
  set_tests_properties(ops.cache.sm_80 PROPERTIES ENVIRONMENT "KAIO_DEVICE=emulator;KAIO_EMULATOR_ARCH=sm_80")
  foreach(order 1 2)
    kaio_share_of_ops(schedule.random:${order}
      "sm_90a*,attention_backward for sm_90a*,attention: every kernel*,attention: block masks and head sizes,attention_decode: parts in a cluster*" ${order} 2)
    set_tests_properties(ops.schedule.random:${order} PROPERTIES LABELS schedules
      ENVIRONMENT "KAIO_DEVICE=emulator;KAIO_SCHEDULE=random:${order}")
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
