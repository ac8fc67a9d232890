# Programs for Windows as users write them: in C on kaio.dll, on nvcuda.dll by its import library, and the kernel of the README.
# Under Linux they run under Wine. Each kind has a label, so that a run can build a part of them.
enable_language(C)

# kaio_next_to(target library): a program finds a DLL that is in its own folder.
function(kaio_next_to target library)
  set_target_properties(${target} PROPERTIES RUNTIME_OUTPUT_DIRECTORY $<TARGET_FILE_DIR:${library}>)
  add_dependencies(${target} ${library})
endfunction()

if(TARGET kaio_cuda_emulator)
  add_executable(kaio_windows_nvcuda windows/nvcuda.c)
  set_target_properties(kaio_windows_nvcuda PROPERTIES C_STANDARD 11)
  target_link_libraries(kaio_windows_nvcuda PRIVATE kaio_cuda_emulator)
  target_compile_options(kaio_windows_nvcuda PRIVATE -Wall -Wextra -Werror)
  kaio_next_to(kaio_windows_nvcuda kaio_cuda_emulator)
  add_test(NAME windows.nvcuda COMMAND kaio_windows_nvcuda)
  set_tests_properties(windows.nvcuda PROPERTIES LABELS windows_nvcuda TIMEOUT 120)
endif()

if(TARGET kaio_c)
  # What kernels.c loads: a library with kernels, and one without.
  kaio_kernel_library(kaio_windows_kernels_library c/kernel_library.cpp)
  file(WRITE ${CMAKE_CURRENT_BINARY_DIR}/c/empty.cpp "")
  add_library(kaio_windows_empty_library MODULE ${CMAKE_CURRENT_BINARY_DIR}/c/empty.cpp)
  foreach(name IN ITEMS kernels empty)
    set_target_properties(kaio_windows_${name}_library PROPERTIES PREFIX lib OUTPUT_NAME ${name} SUFFIX .so
      LIBRARY_OUTPUT_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/c)
  endforeach()
  add_custom_target(kaio_windows_c)
  foreach(program IN ITEMS attention cache kernels operations packed_weights products_8bit projections ranks repack runtime
      small_operations threads weight_files)
    add_executable(kaio_windows_${program} c/${program}.c)
    set_target_properties(kaio_windows_${program} PROPERTIES C_STANDARD 99)
    target_link_libraries(kaio_windows_${program} PRIVATE kaio_c)
    target_compile_options(kaio_windows_${program} PRIVATE -Wall -Wextra -Wno-unused-function -Werror)
    kaio_next_to(kaio_windows_${program} kaio_c)
    add_dependencies(kaio_windows_c kaio_windows_${program})
    add_test(NAME windows.c.${program} COMMAND kaio_windows_${program} ${CMAKE_CURRENT_BINARY_DIR}/c)
    set_tests_properties(windows.c.${program} PROPERTIES LABELS windows_c TIMEOUT 300 ENVIRONMENT KAIO_DEVICE=emulator)
  endforeach()
  add_dependencies(kaio_windows_c kaio_windows_kernels_library kaio_windows_empty_library)
  add_test(NAME windows.c.exports COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/windows/exports.py
    $<TARGET_FILE:kaio_c> ${PROJECT_SOURCE_DIR}/src/c/generated/exports.map)
  set_tests_properties(windows.c.exports PROPERTIES LABELS windows_c TIMEOUT 60 SKIP_RETURN_CODE ${skipped})
endif()

if(TARGET showcase_fused_silu_gate)
  add_test(NAME windows.readme COMMAND showcase_fused_silu_gate)
  set_tests_properties(windows.readme PROPERTIES LABELS windows_readme TIMEOUT 120 ENVIRONMENT KAIO_DEVICE=emulator)
endif()

# The program kaio, with files in a folder whose name has spaces and letters of several scripts. Each run starts Wine, so it has a
# few of the tests of emulate.py; others of them start shell scripts, or are of Linux's files and terminals.
if(TARGET kaio_program)
  add_test(NAME windows.kaio COMMAND kaio_program --version)
  set(odd "${CMAKE_CURRENT_BINARY_DIR}/a folder éü 漢字")
  file(MAKE_DIRECTORY ${odd})
  set(cases buffers_and_numbers a_text_with_carriage_returns text_from_the_standard_input list_names_kernels_and_parameters
    printed_text_goes_to_the_standard_output)
  list(TRANSFORM cases PREPEND emulate.test_)
  add_test(NAME windows.kaio.emulate COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/emulate.py
    $<TARGET_FILE:kaio_program> ${cases})
  set(tests windows.kaio windows.kaio.emulate)
  if(KAIO_BUILD_WEIGHTS)
    add_test(NAME windows.kaio.weights COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/weights.py
      $<TARGET_FILE:kaio_program>)
    list(APPEND tests windows.kaio.weights)
  endif()
  set_tests_properties(${tests} PROPERTIES LABELS windows_program TIMEOUT 600 ENVIRONMENT "TMPDIR=${odd}")
endif()

# A sample of the tests of operations: sources that compile quickly, of most operations.
if(TARGET kaio_ops AND KAIO_BUILD_WEIGHTS)
  set(sources attention/attention attention/extents attention_backward/attention_backward attention_decode/append
    attention_decode/merge_states cache/append_kv cache/rotary cross_entropy/cross_entropy distributed/all_reduce distributed/collectives
    distributed/launch distributed/layouts distributed/products elementwise/activation embedding/embedding experts/mixture
    experts/sort_by_expert experts/topk_router gate_up_project/gate_up gate_up_project/tuning histogram/histogram
    linear_cross_entropy/linear_cross_entropy matmul/bad_inputs matmul/every_call matmul/gradients matmul/products matmul_8bit/fp8
    matmul_8bit/fp8_quantise matmul_8bit_grouped/matmul_8bit_grouped matmul_grouped/matmul_grouped norm/backward norm/rms_norm
    qkv_project/one_row softmax/backward weight_only/parity)
  list(TRANSFORM sources REPLACE "(.+)" "ops/\\1.cpp")
  add_executable(kaio_windows_ops ${sources})
  target_include_directories(kaio_windows_ops PRIVATE ${CMAKE_CURRENT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR})
  target_compile_definitions(kaio_windows_ops PRIVATE KAIO_ASSUME_SOUND)
  target_compile_options(kaio_windows_ops PRIVATE -ffp-contract=off)
  target_link_libraries(kaio_windows_ops PRIVATE kaio_inside kaio_weights_archive kaio_catch fmt::fmt spdlog::spdlog Threads::Threads)
  kaio_warnings(kaio_windows_ops)
  kaio_precompile_headers(kaio_windows_ops ops/support.hpp)
  kaio_utf8_program(kaio_windows_ops)
  add_test(NAME windows.ops COMMAND kaio_windows_ops)
  set_tests_properties(windows.ops PROPERTIES LABELS windows_ops TIMEOUT 1800 ENVIRONMENT KAIO_DEVICE=emulator)
endif()

# Every kernel of the repository is that of the program for Linux in KAIO_IMAGES_FROM: its text byte for byte, and what it needs.
# Those of the operations come out of the library, the others from the compiler for Windows.
if(TARGET kaio_kernels AND KAIO_IMAGES_FROM AND KAIO_BUILD_OPS)
  add_test(NAME windows.texts COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/constants.py
    $<TARGET_FILE:kaio_kernels> ${KAIO_IMAGES_FROM}/tools/kaio-kernels)
  set_tests_properties(windows.texts PROPERTIES LABELS windows_texts TIMEOUT 300 SKIP_RETURN_CODE ${skipped})
endif()

# A family's program that is built for Windows traces the texts of Linux. This one refers to code that it does not have, which the
# linker has to drop.
if(TARGET kaio_kernels_int8_column_sums AND KAIO_IMAGES_FROM)
  add_test(NAME windows.traced COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/constants.py
    $<TARGET_FILE:kaio_kernels_int8_column_sums> ${KAIO_IMAGES_FROM}/tools/kaio_kernels_int8_column_sums)
  set_tests_properties(windows.traced PROPERTIES LABELS windows_texts TIMEOUT 120 SKIP_RETURN_CODE ${skipped})
endif()

# MSVC's dialect, as far as clang knows it. The standard library is MinGW's, which refuses a compiler that says that it is MSVC.
# clang 16 does not find that library. Each program includes all headers of its language.
find_program(KAIO_CLANG NAMES clang++-19)
mark_as_advanced(KAIO_CLANG)
if(KAIO_CLANG)
  set(dialect -fms-compatibility -fms-extensions -fms-compatibility-version=19.40 -fsyntax-only -Wall -Wextra -Werror
    -I${PROJECT_SOURCE_DIR}/include)
  foreach(kind IN ITEMS c language)
    set(patterns c/*.h)
    if(kind STREQUAL "language")
      set(patterns ptx/*.hpp dsl/*.hpp)
    endif()
    list(TRANSFORM patterns PREPEND ${PROJECT_SOURCE_DIR}/include/kaio/)
    file(GLOB_RECURSE headers RELATIVE ${PROJECT_SOURCE_DIR}/include CONFIGURE_DEPENDS ${patterns})
    list(TRANSFORM headers REPLACE "(.+)" "#include <\\1>\n")
    list(JOIN headers "" headers)
    file(GENERATE OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/dialect/${kind}.h CONTENT "${headers}")
  endforeach()
  execute_process(COMMAND ${KAIO_CLANG} -print-resource-dir OUTPUT_VARIABLE resources OUTPUT_STRIP_TRAILING_WHITESPACE)
  add_test(NAME windows.dialect.c COMMAND ${KAIO_CLANG} -x c -target x86_64-pc-windows-msvc ${dialect} -nostdinc
    -isystem ${resources}/include -include ${CMAKE_CURRENT_BINARY_DIR}/dialect/c.h ${CMAKE_CURRENT_SOURCE_DIR}/windows/dialect.c)
  get_target_property(boost Boost::headers INTERFACE_INCLUDE_DIRECTORIES)
  add_test(NAME windows.dialect.language COMMAND ${KAIO_CLANG} -x c++ -std=gnu++20 -target x86_64-w64-windows-gnu ${dialect}
    -U_MSC_VER -U_MSC_FULL_VER -D__GNUC__=4 -D__GNUC_MINOR__=2 -Wno-\#warnings -fconstexpr-steps=16777216 -isystem ${boost}
    -include ${CMAKE_CURRENT_BINARY_DIR}/dialect/language.h ${CMAKE_CURRENT_SOURCE_DIR}/windows/dialect.cpp)
  set_tests_properties(windows.dialect.c windows.dialect.language PROPERTIES LABELS windows TIMEOUT 120)
endif()
