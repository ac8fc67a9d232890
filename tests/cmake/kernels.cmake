# The same sources on the emulator, and on the first GPU when there is one.
foreach(group kernels ops)
  kaio_catch_program(${group} ${group}/support.hpp)
  if(TARGET kaio_test_${group})
    if(group STREQUAL "kernels")
      add_test(NAME kernels.emulator COMMAND kaio_test_kernels)
      set_tests_properties(kernels.emulator PROPERTIES LABELS kernels TIMEOUT 900 ENVIRONMENT KAIO_DEVICE=emulator)
    endif()
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
  # ops/distributed loads it in place of NCCL.
  add_library(kaio_fake_nccl MODULE fake_nccl/fake_nccl.cpp)
  set_target_properties(kaio_fake_nccl PROPERTIES PREFIX lib OUTPUT_NAME nccl SUFFIX .so.2
    LIBRARY_OUTPUT_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/fake_nccl)
  kaio_warnings(kaio_fake_nccl)
  add_dependencies(kaio_test_ops kaio_fake_nccl)
  # The programs of the families probe the library's kernels. Those with a part of the user's own are probed in the programs of docs/ops, and
  # for attention_backward in this file.
  target_compile_definitions(kaio_test_ops PRIVATE KAIO_ASSUME_SOUND)
  set_source_files_properties(ops/attention_backward/with.cpp PROPERTIES
    COMPILE_OPTIONS -UKAIO_ASSUME_SOUND SKIP_PRECOMPILE_HEADERS ON)
  # The files whose kernels take a compiler longest: a third of them with each commit.
  if(has_turn)
    get_target_property(sources kaio_test_ops SOURCES)
    set(number ${turn})
    foreach(file matmul/sm90_kernels attention_backward/with weight_only/own attention/with attention_decode/with
        attention_backward/own_scores llama/model_with_weights reduce/reduce elementwise/elementwise elementwise/copy
        llama/tokenizer_with_weights scan/scan)
      math(EXPR number "${number} + 1")
      math(EXPR part "${number} % 3")
      if(NOT part EQUAL 0)
        list(FILTER sources EXCLUDE REGEX "/ops/${file}\\.cpp$")
      endif()
    endforeach()
    set_target_properties(kaio_test_ops PROPERTIES SOURCES "${sources}")
  endif()
  if(KAIO_BUILD_WEIGHTS)  # its decoders are the reference of the device's
    target_link_libraries(kaio_test_ops PRIVATE kaio_weights_archive)
  endif()
  # A share of the cases in a run that has a turn, else all of them. A quarter is run with each commit as it is. Others take turns:
  # with every check of the emulator; on the architectures before its own, for which attention takes other kernels; and rings
  # between producers and consumers under two schedules.
  function(kaio_share_of_ops name filter number shares)
    if(NOT has_turn)
      set(shares 1)
    endif()
    add_test(NAME ops.${name} COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/cases.py
      $<TARGET_FILE:kaio_test_ops> ${filter} --share ${number}/${shares} ${ARGN})
    kaio_turn_timeout(timeout 1800 4)
    set_tests_properties(ops.${name} PROPERTIES LABELS ops TIMEOUT ${timeout})
  endfunction()
  kaio_share_of_ops(emulator "*" ${turn} 4)
  set_tests_properties(ops.emulator PROPERTIES COST 400 ENVIRONMENT KAIO_DEVICE=emulator)
  kaio_share_of_ops(sanitized "*" ${round} 9)
  set_tests_properties(ops.sanitized PROPERTIES COST 500 ENVIRONMENT "KAIO_DEVICE=emulator;KAIO_SANITIZE=all")
  kaio_share_of_ops(attention.sm_80 "[attention],[attention_backward],attention_decode: a contiguous cache,attention_decode: every kernel*" ${round} 3 --without "attention: every kernel")
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
  # Without instructions for 8-bit floats; norms without clusters, products of groups without wgmma.
  kaio_share_of_ops(cache.sm_80 "[cache],norms: *,[matmul_grouped]" 0 1)
  set_tests_properties(ops.cache.sm_80 PROPERTIES ENVIRONMENT "KAIO_DEVICE=emulator;KAIO_EMULATOR_ARCH=sm_80")
  foreach(order 1 2)
    math(EXPR number "${round} + ${order}")
    kaio_share_of_ops(schedule.random:${order}
      "sm_90a*,attention_backward for sm_90a*,attention: every kernel*,attention: block masks and head sizes,attention_decode: parts in a cluster*" ${number} 2)
    set_tests_properties(ops.schedule.random:${order} PROPERTIES LABELS schedules
      ENVIRONMENT "KAIO_DEVICE=emulator;KAIO_SCHEDULE=random:${order}")
  endforeach()
  kaio_takes_turns(1 4 ops.sanitized)
  kaio_takes_turns(2 4 ops.schedule.random:1 ops.schedule.random:2 ops.attention.sm_80)
  kaio_takes_turns(3 4 ops.attention.sm_70 ops.attention.sm_75 ops.attention.sm_86 ops.quantised.sm_70 ops.quantised.sm_75)
endif()
# The kernels under eight schedules, about five seconds each: what they compute does not depend on the order of warps and
# blocks.
if(TARGET kaio_test_kernels)
  foreach(order reverse starve:1 random:1 random:2 random:3 random:4 random:5 random:6)
    add_test(NAME kernels.schedule.${order} COMMAND kaio_test_kernels)
    set_tests_properties(kernels.schedule.${order} PROPERTIES LABELS schedules TIMEOUT 900
      ENVIRONMENT "KAIO_DEVICE=emulator;KAIO_SCHEDULE=${order}")
  endforeach()
  foreach(seed RANGE 3 6)
    kaio_takes_turns(2 4 kernels.schedule.random:${seed})
  endforeach()
endif()

# The kernels through the driver's half of the runtime too.
if(TARGET kaio_test_kernels AND TARGET kaio_cuda_emulator)
  add_test(NAME kernels.driver COMMAND kaio_test_kernels)
  set_tests_properties(kernels.driver PROPERTIES LABELS kernels TIMEOUT 900
    ENVIRONMENT "KAIO_DEVICE=cuda:0;KAIO_CUDA_LIBRARY=${drive}$<TARGET_FILE:kaio_cuda_emulator>")
endif()
