# tests/random: programs that a generator writes, with the host's expected results; other ones with every commit.
set(KAIO_RANDOM_SEED "" CACHE STRING "The seed of the random programs; by default the turn of the commit")
set(KAIO_RANDOM_PROGRAMS 50 CACHE STRING "How many random programs are compiled as C++ text")
set(KAIO_NATIVE_PROGRAMS 1000 CACHE STRING "How many random programs are traced natively")
set(KAIO_NATIVE_DUMPED 200 CACHE STRING "How many of those are written out, for ptxas")
set(random_programs_per_file 10)  # with 25, g++ 12 took the target of another kernel in two of them
if("random" IN_LIST KAIO_TESTS)
  find_package(nlohmann_json REQUIRED)
  set(seed "${KAIO_RANDOM_SEED}")
  if("${seed}" STREQUAL "")
    set(seed ${KAIO_TURN})
  endif()
  if(NOT seed MATCHES "^[0-9]+$")
    execute_process(COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/turn.py OUTPUT_VARIABLE seed
      OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
  endif()
  set(folder ${CMAKE_CURRENT_BINARY_DIR}/random)
  set(sources)
  set(declarations "")
  set(calls "")
  math(EXPR last "${KAIO_RANDOM_PROGRAMS} - 1")
  foreach(first RANGE 0 ${last} ${random_programs_per_file})
    set(source ${folder}/programs_${seed}_${first}.cpp)
    add_custom_command(OUTPUT ${source} VERBATIM
      COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/random/generate.py --seed ${seed}
        --first ${first} --programs ${random_programs_per_file} ${source}
      DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/random/generate.py)
    list(APPEND sources ${source})
    string(APPEND declarations "void add_programs_${first}(std::vector<program>&);\n")
    string(APPEND calls "  add_programs_${first}(programs);\n")
  endforeach()
  configure_file(random/list.hpp.in ${folder}/tests/random/list.hpp @ONLY)
  add_executable(kaio_test_random random/main.cpp ${sources})
  set_target_properties(kaio_test_random PROPERTIES OUTPUT_NAME random_programs)
  target_include_directories(kaio_test_random PRIVATE
    ${folder} ${CMAKE_CURRENT_SOURCE_DIR} ${PROJECT_SOURCE_DIR})
  target_link_libraries(kaio_test_random PRIVATE
    kaio::kaio kaio_catch nlohmann_json::nlohmann_json)
  # The host rounds as the tree has it; generated code such as w1 = w1 is no reason to warn.
  target_compile_options(kaio_test_random PRIVATE -O0 -ffp-contract=off -w)
  add_test(NAME random.emulator COMMAND kaio_test_random)
  set_tests_properties(random.emulator PROPERTIES LABELS random TIMEOUT 900 ENVIRONMENT KAIO_DEVICE=emulator)
  add_test(NAME random.gpu COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/on_gpu.py
    $<TARGET_FILE:kaio_test_random>)
  add_test(NAME random.gpu_optimised COMMAND Python3::Interpreter
    ${CMAKE_CURRENT_SOURCE_DIR}/on_gpu.py $<TARGET_FILE:kaio_test_random> "[optimised]")
  set_tests_properties(random.gpu_optimised PROPERTIES LABELS gpu TIMEOUT 900 ENVIRONMENT KAIO_DEVICE=cuda:0
    SKIP_RETURN_CODE ${skipped} RUN_SERIAL ON)
  set_tests_properties(random.gpu PROPERTIES LABELS gpu TIMEOUT 900
    ENVIRONMENT "KAIO_DEVICE=cuda:0;KAIO_JIT_LEVEL=0"
    SKIP_RETURN_CODE ${skipped} RUN_SERIAL ON)
  add_test(NAME random.dump COMMAND kaio_test_random "[dump]")
  set_tests_properties(random.dump PROPERTIES LABELS random FIXTURES_SETUP dumped_programs
    ENVIRONMENT KAIO_RANDOM_DUMP=${folder}/ptx)
  add_test(NAME random.ptx COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/ptx/verify.py
    --claimed --level=-O3 --brief --may-spill ${folder}/ptx)
  set_tests_properties(random.ptx PROPERTIES LABELS ptx TIMEOUT 900 PROCESSORS ${processors}
    SKIP_RETURN_CODE ${skipped} FIXTURES_REQUIRED dumped_programs)
  kaio_identical_test(random random/ptx dumped_programs)

  # tests/random/native: programs that are data, traced at run time. KAIO_NATIVE_SEED, KAIO_NATIVE_FIRST and
  # KAIO_NATIVE_PROGRAMS in the environment select them.
  file(GLOB sources CONFIGURE_DEPENDS random/native/*.cpp)
  add_executable(kaio_test_random_native ${sources} ${PROJECT_SOURCE_DIR}/src/images/native_kernel.cpp)
  set_target_properties(kaio_test_random_native PROPERTIES OUTPUT_NAME random_native)
  target_include_directories(kaio_test_random_native PRIVATE
    ${CMAKE_CURRENT_SOURCE_DIR} ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/src)
  target_link_libraries(kaio_test_random_native PRIVATE kaio::kaio kaio_catch nlohmann_json::nlohmann_json)
  target_compile_options(kaio_test_random_native PRIVATE -ffp-contract=off)
  kaio_warnings(kaio_test_random_native)
  kaio_precompile_headers(kaio_test_random_native catch.hpp <kaio/kaio.hpp>)
  set(native "KAIO_NATIVE_SEED=${seed};KAIO_NATIVE_PROGRAMS=${KAIO_NATIVE_PROGRAMS}")
  set(dumped "KAIO_NATIVE_SEED=${seed};KAIO_NATIVE_PROGRAMS=${KAIO_NATIVE_DUMPED}")
  add_test(NAME random.native.emulator COMMAND kaio_test_random_native)
  set_tests_properties(random.native.emulator PROPERTIES LABELS random TIMEOUT 900
    ENVIRONMENT "KAIO_DEVICE=emulator;${native}")
  add_test(NAME random.native.gpu COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/on_gpu.py
    $<TARGET_FILE:kaio_test_random_native>)
  set_tests_properties(random.native.gpu PROPERTIES LABELS gpu TIMEOUT 900
    ENVIRONMENT "KAIO_DEVICE=cuda:0;KAIO_JIT_LEVEL=0;${native}"
    SKIP_RETURN_CODE ${skipped} RUN_SERIAL ON)
  add_test(NAME random.native.gpu_optimised COMMAND Python3::Interpreter
    ${CMAKE_CURRENT_SOURCE_DIR}/on_gpu.py $<TARGET_FILE:kaio_test_random_native> "[optimised]")
  set_tests_properties(random.native.gpu_optimised PROPERTIES LABELS gpu TIMEOUT 900
    ENVIRONMENT "KAIO_DEVICE=cuda:0;${native}" SKIP_RETURN_CODE ${skipped} RUN_SERIAL ON)
  add_test(NAME random.native.dump COMMAND kaio_test_random_native "[dump]")
  set_tests_properties(random.native.dump PROPERTIES LABELS random FIXTURES_SETUP dumped_native_programs
    ENVIRONMENT "KAIO_RANDOM_DUMP=${folder}/native;${dumped}")
  add_test(NAME random.native.ptx COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/ptx/verify.py
    --claimed --level=-O3 --brief --may-spill ${folder}/native)
  set_tests_properties(random.native.ptx PROPERTIES LABELS ptx TIMEOUT 900 PROCESSORS ${processors}
    SKIP_RETURN_CODE ${skipped} FIXTURES_REQUIRED dumped_native_programs)
  kaio_identical_test(random_native random/native dumped_native_programs)
endif()
