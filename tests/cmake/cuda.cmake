# PTX that is not kaio's: of nvcc, random, and broken.

# tests/nvcc: CUDA programs as nvcc compiles them, on the emulator, plain and under the sanitizer.
find_program(KAIO_NVCC nvcc PATHS /usr/local/cuda/bin)
mark_as_advanced(KAIO_NVCC)
if(KAIO_NVCC AND "nvcc" IN_LIST KAIO_TESTS)
  set(folder ${CMAKE_CURRENT_BINARY_DIR}/nvcc_ptx)
  file(MAKE_DIRECTORY ${folder})
  file(GLOB sources CONFIGURE_DEPENDS nvcc/kernels/*.cu)
  set(texts)
  foreach(source IN LISTS sources)
    get_filename_component(name ${source} NAME_WE)
    add_custom_command(OUTPUT ${folder}/${name}.ptx DEPENDS ${source} VERBATIM
      COMMAND ${KAIO_NVCC} -ptx -std=c++17 -arch=sm_90a -w ${source} -o ${folder}/${name}.ptx)
    list(APPEND texts ${folder}/${name}.ptx)
  endforeach()
  add_custom_target(kaio_nvcc_texts DEPENDS ${texts})
  kaio_catch_program(nvcc)
  add_dependencies(kaio_test_nvcc kaio_nvcc_texts)
  target_compile_definitions(kaio_test_nvcc PRIVATE KAIO_NVCC_FOLDER="${folder}")
  add_test(NAME nvcc COMMAND kaio_test_nvcc)
  add_test(NAME nvcc.sanitized COMMAND kaio_test_nvcc)
  set_tests_properties(nvcc nvcc.sanitized PROPERTIES LABELS emulator TIMEOUT 600)
  set_tests_properties(nvcc.sanitized PROPERTIES ENVIRONMENT KAIO_SANITIZE=all)
endif()

# tests/triton: PTX of Triton 3.9 as it is shipped, of this project's own kernels, and what the Triton of this machine makes.
if(TARGET kaio_program AND "emulator" IN_LIST KAIO_TESTS)
  set(triton Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/triton/run.py $<TARGET_FILE:kaio_program>)
  add_test(NAME triton COMMAND ${triton} ${CMAKE_CURRENT_SOURCE_DIR}/triton/ptx)
  add_test(NAME triton.made COMMAND ${triton} --made)
  set_tests_properties(triton triton.made PROPERTIES LABELS emulator TIMEOUT 600 SKIP_RETURN_CODE ${skipped})
endif()

# tests/cuda_runtime: programs of the CUDA runtime as nvcc builds them, its library static and shared, on the emulator.
get_filename_component(toolkit "${KAIO_NVCC}" REALPATH)
get_filename_component(toolkit "${toolkit}" DIRECTORY)
get_filename_component(toolkit "${toolkit}" DIRECTORY)
if(KAIO_NVCC AND TARGET kaio_program AND TARGET kaio_cuda_emulator AND "nvcc" IN_LIST KAIO_TESTS
    AND EXISTS "${toolkit}/lib64/libcudart_static.a")
  set(folder ${CMAKE_CURRENT_BINARY_DIR}/cuda_runtime_programs)
  file(MAKE_DIRECTORY ${folder})
  set(cuda_runtime_programs)
  # kaio_cuda_runtime_program(name "sources" options...)
  function(kaio_cuda_runtime_program name sources)
    list(TRANSFORM sources PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/cuda_runtime/)
    add_custom_command(OUTPUT ${folder}/${name} VERBATIM
      DEPENDS ${sources} ${CMAKE_CURRENT_SOURCE_DIR}/cuda_runtime/check.hpp
      COMMAND ${KAIO_NVCC} -std=c++17 -w ${ARGN} ${sources} -o ${folder}/${name})
    set(cuda_runtime_programs ${cuda_runtime_programs} ${folder}/${name} PARENT_SCOPE)
  endfunction()
  set(ptx_alone -gencode arch=compute_90,code=compute_90)
  kaio_cuda_runtime_program(streams streams.cu)  # nvcc's default: machine code, and PTX of its oldest architecture
  kaio_cuda_runtime_program(streams_shared streams.cu --cudart shared ${ptx_alone})
  kaio_cuda_runtime_program(memory memory.cu ${ptx_alone})
  kaio_cuda_runtime_program(variables variables.cu ${ptx_alone})
  kaio_cuda_runtime_program(launches launches.cu ${ptx_alone})
  kaio_cuda_runtime_program(errors errors.cu ${ptx_alone})
  kaio_cuda_runtime_program(separate "separate.cu;separate_functions.cu" -rdc=true ${ptx_alone})
  if(EXISTS "${toolkit}/lib64/libnvrtc.so" AND EXISTS "${toolkit}/lib64/stubs/libcuda.so")
    kaio_cuda_runtime_program(nvrtc nvrtc.cu ${ptx_alone} -L${toolkit}/lib64 -L${toolkit}/lib64/stubs -lnvrtc -lcuda)
  endif()
  kaio_cuda_runtime_program(machine_code streams.cu -gencode arch=compute_90,code=sm_90)
  add_custom_target(kaio_cuda_runtime_programs ALL DEPENDS ${cuda_runtime_programs})
  add_test(NAME cuda_runtime COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/cuda_runtime/run.py
    $<TARGET_FILE:kaio_program> $<TARGET_FILE:kaio_cuda_emulator> ${folder} ${toolkit}/lib64)
  set_tests_properties(cuda_runtime PROPERTIES LABELS emulator TIMEOUT 600)
endif()

# tests/differential: random PTX programs on the emulator and on a GPU. They are the same every day: the
# results of an H200 are recorded.
if("differential" IN_LIST KAIO_TESTS)
  set(folder ${CMAKE_CURRENT_BINARY_DIR}/differential)
  add_custom_command(OUTPUT ${folder}/made VERBATIM
    COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/differential/generate.py --programs 400 ${folder}
    COMMAND ${CMAKE_COMMAND} -E touch ${folder}/made
    DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/differential/generate.py)
  add_executable(kaio_test_differential differential/main.cpp ${folder}/made)
  set_target_properties(kaio_test_differential PROPERTIES OUTPUT_NAME differential_programs)
  target_include_directories(kaio_test_differential PRIVATE ${CMAKE_CURRENT_SOURCE_DIR} ${PROJECT_SOURCE_DIR})
  target_compile_definitions(kaio_test_differential PRIVATE
    KAIO_RECORDED_RESULTS="${CMAKE_CURRENT_SOURCE_DIR}/differential/h200.txt")
  target_link_libraries(kaio_test_differential PRIVATE kaio::kaio kaio_catch)
  kaio_warnings(kaio_test_differential)
  add_test(NAME differential COMMAND kaio_test_differential)
  add_test(NAME differential.gpu COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/on_gpu.py
    $<TARGET_FILE:kaio_test_differential> "[gpu]")
  set_tests_properties(differential PROPERTIES LABELS emulator TIMEOUT 600
    ENVIRONMENT KAIO_DIFFERENTIAL_PROGRAMS=${folder})
  set_tests_properties(differential.gpu PROPERTIES LABELS gpu TIMEOUT 600 SKIP_RETURN_CODE ${skipped}
    RUN_SERIAL ON ENVIRONMENT "KAIO_DIFFERENTIAL_PROGRAMS=${folder};KAIO_JIT_LEVEL=0")
endif()

# tests/fuzz: texts and files that libFuzzer makes from the seeds, with clang's sanitizers.
set(KAIO_FUZZ_SECONDS "" CACHE STRING "How long the fuzzers run together; by default as in the environment, or 64")
set(fuzz_arguments ${CMAKE_CURRENT_BINARY_DIR}/fuzz)
if(NOT "${KAIO_FUZZ_SECONDS}" STREQUAL "")
  list(APPEND fuzz_arguments --seconds ${KAIO_FUZZ_SECONDS})
endif()
add_test(NAME fuzz COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/fuzz/run.py ${fuzz_arguments})
# One process that runs for minutes: it begins early, next to the others.
set_tests_properties(fuzz PROPERTIES LABELS fuzz TIMEOUT 1800 COST 230 SKIP_RETURN_CODE ${skipped})
kaio_takes_turns(0 4 fuzz)
