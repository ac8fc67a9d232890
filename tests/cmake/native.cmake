# tests/native: every kernel of the repository, traced natively, has the text that the compiler evaluated: that of
# the build which this one is compared with, or its own. g++ evaluates the arguments of a call from the right
# outside of constant expressions, so what it traces natively is numbered otherwise; clang keeps to one order.
if("native" IN_LIST KAIO_TESTS AND CMAKE_CXX_COMPILER_ID MATCHES Clang
    AND (KAIO_REFERENCE OR TARGET kaio_kernels))
  set(with_ops 0)
  file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tools/registry/*.cpp)
  if(KAIO_REFERENCE OR KAIO_BUILD_OPS)
    set(with_ops 1)
    list(APPEND sources ${KAIO_OPS_SOURCES})
  endif()
  add_executable(kaio_test_native native/texts.cpp native/native_kernel.cpp ${sources})
  set_target_properties(kaio_test_native PROPERTIES OUTPUT_NAME kernel_texts)
  target_compile_definitions(kaio_test_native PRIVATE
    KAIO_BUILD_OPS=${with_ops} KAIO_VERSION="${PROJECT_VERSION}")
  target_include_directories(kaio_test_native BEFORE PRIVATE ${CMAKE_CURRENT_SOURCE_DIR}/native/overlay)
  target_include_directories(kaio_test_native PRIVATE ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/src)
  target_link_libraries(kaio_test_native PRIVATE kaio::dsl kaio::runtime)
  target_compile_options(kaio_test_native PRIVATE -O0 -w)
  set(folder ${CMAKE_CURRENT_BINARY_DIR}/native_ptx)
  add_test(NAME native.dump COMMAND kaio_test_native ${folder})
  set_tests_properties(native.dump PROPERTIES LABELS identical TIMEOUT 300
    FIXTURES_SETUP dumped_native_kernels)
  set(constants ${CMAKE_CURRENT_BINARY_DIR})
  set(fixtures dumped_native_kernels)
  if(KAIO_REFERENCE)
    set(constants ${KAIO_REFERENCE})
  else()
    list(APPEND fixtures dumped_kernels)
  endif()
  add_test(NAME identical.native COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/ptx/identical.py
    ${folder} ${constants}/ptx)
  set_tests_properties(identical.native PROPERTIES LABELS identical FIXTURES_REQUIRED "${fixtures}"
    SKIP_RETURN_CODE ${skipped})
endif()
