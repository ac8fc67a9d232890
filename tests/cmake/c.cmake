# tests/c: programs that use libkaio.so, the C interface, in C99, in C++17 without exceptions, from headers of an older version,
# and by ctypes; on the emulator, on the emulator in the shape of the driver, and on a GPU where there is one.
if(TARGET kaio_c)
  find_program(KAIO_C_COMPILER NAMES cc gcc clang)
  mark_as_advanced(KAIO_C_COMPILER)
  if(NOT KAIO_C_COMPILER)
    set(KAIO_C_COMPILER cc)  # the tests are skipped
  endif()
  add_test(NAME c.check COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/c/check.py
    $<TARGET_FILE:kaio_c> ${PROJECT_VERSION})
  set_tests_properties(c.check PROPERTIES LABELS c TIMEOUT 60 SKIP_RETURN_CODE ${skipped})
  set(programs ${CMAKE_CURRENT_SOURCE_DIR}/c/programs.py)
  set(more --library $<TARGET_FILE:kaio_c> --cc ${KAIO_C_COMPILER} --cxx ${CMAKE_CXX_COMPILER})
  function(kaio_c_test name device label)
    add_test(NAME c.${name} COMMAND Python3::Interpreter ${ARGN})
    set_tests_properties(c.${name} PROPERTIES LABELS ${label} TIMEOUT 120 SKIP_RETURN_CODE ${skipped}
      ENVIRONMENT "${device}")
  endfunction()
  set(work ${CMAKE_CURRENT_BINARY_DIR}/c)
  # On sm_80 the splits of a product meet in a workspace, and no cluster adds them.
  foreach(program c99 cxx17 old_caller page)
    kaio_c_test(${program} "KAIO_DEVICE=emulator;KAIO_EMULATOR_ARCH=sm_80" c ${programs} ${program} --work ${work} ${more})
  endforeach()
  kaio_c_test(ctypes KAIO_DEVICE=emulator c ${CMAKE_CURRENT_SOURCE_DIR}/c/by_ctypes.py $<TARGET_FILE:kaio_c>)
  foreach(program attention cache kernels packed_weights products_8bit projections repack runtime small_operations threads)
    kaio_c_test(${program} KAIO_DEVICE=emulator c ${programs} ${program} --work ${work} ${more})
    kaio_c_test(${program}.gpu KAIO_DEVICE=cuda:0 gpu ${CMAKE_CURRENT_SOURCE_DIR}/on_gpu.py ${Python3_EXECUTABLE}
      ${programs} ${program} --work ${work}/gpu ${more})
  endforeach()
  kaio_c_test(ranks KAIO_DEVICE=emulator c ${programs} ranks --work ${work} ${more})
  kaio_c_test(weight_files KAIO_DEVICE=emulator c ${programs} weight_files --work ${work} ${more})
  kaio_c_test(runtime.driver "KAIO_DEVICE=cuda:0;KAIO_CUDA_LIBRARY=$<TARGET_FILE:kaio_cuda_emulator>" c
    ${programs} runtime --work ${work}/driver ${more})
  kaio_c_test(driver "KAIO_DEVICE=cuda:0;KAIO_CUDA_LIBRARY=$<TARGET_FILE:kaio_cuda_emulator>" c
    ${programs} c99 --work ${work}/driver ${more})
  kaio_c_test(gpu KAIO_DEVICE=cuda:0 gpu ${CMAKE_CURRENT_SOURCE_DIR}/on_gpu.py ${Python3_EXECUTABLE}
    ${programs} c99 --work ${work}/gpu ${more})
  kaio_c_test(torch "" gpu ${CMAKE_CURRENT_SOURCE_DIR}/on_gpu.py ${Python3_EXECUTABLE}
    ${CMAKE_CURRENT_SOURCE_DIR}/c/torch_calls.py $<TARGET_FILE:kaio_c>)
endif()
