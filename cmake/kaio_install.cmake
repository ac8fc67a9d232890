# Installs the headers, the libraries, the program `kaio`, the CMake package `kaio` and the pkg-config file `kaio.pc`. The
# installed files may be moved to another prefix afterwards. docs/install.md is its page.

include(CMakePackageConfigHelpers)

# kaio_to_install builds what an install copies, and nothing else.
set(parts)
foreach(target IN ITEMS kaio_runtime kaio_ptx_tool kaio_ops kaio_weights kaio_c kaio_cuda_emulator kaio_cublas_emulator
    kaio_curand_emulator kaio_program)
  if(TARGET ${target})
    get_target_property(type ${target} TYPE)
    if(NOT type STREQUAL "INTERFACE_LIBRARY")
      list(APPEND parts ${target})
    endif()
  endif()
endforeach()
add_custom_target(kaio_to_install)
add_dependencies(kaio_to_install ${parts})

# An install is whole or copies nothing: these rules are the first.
if(KAIO_QUICK_TOOLS)
  install(CODE "message(FATAL_ERROR \"kaio: nothing is installed: most of this build, which tools/kaio made for its own programs \"
    \"(KAIO_QUICK_TOOLS), is not optimised; 'tools/kaio package' builds what an install has\")")
endif()
set(files "")
foreach(part IN LISTS parts)
  string(APPEND files " \"$<TARGET_FILE:${part}>\"")
endforeach()
install(CODE "
  set(missing \"\")
  foreach(file IN ITEMS${files})
    if(NOT EXISTS \"\${file}\")
      string(APPEND missing \"\\n  \${file}\")
    endif()
  endforeach()
  if(missing)
    message(FATAL_ERROR \"kaio: nothing is installed, since these files are not built:\${missing}\\nBuild them first:\"
      \"\\n  cmake --build \\\"${CMAKE_BINARY_DIR}\\\" --target kaio_to_install\")
  endif()")

install(DIRECTORY include/kaio DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.hpp"
  PATTERN "*.h")
install(FILES LICENSE-MIT LICENSE-APACHE DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(TARGETS kaio_dsl kaio_runtime kaio_ops kaio_weights kaio_kaio kaio_ptx_tool EXPORT kaio_targets)
set(KAIO_HAS_PROGRAM FALSE)
if(TARGET kaio_program)
  set(KAIO_HAS_PROGRAM TRUE)
  install(TARGETS kaio_program EXPORT kaio_targets DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()
foreach(library IN ITEMS kaio_cuda_emulator kaio_cublas_emulator kaio_curand_emulator)
  if(TARGET ${library})
    # On Windows it has the driver's name: in a folder of its own no program finds it by chance.
    install(TARGETS ${library} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
      RUNTIME DESTINATION ${CMAKE_INSTALL_LIBDIR}/kaio/cuda ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}/kaio/cuda)
  endif()
endforeach()
if(TARGET kaio_cuda_emulator AND NOT WIN32)
  get_target_property(names kaio_cuda_emulator KAIO_CUDA_FOLDER)
  install(FILES ${names}/libcuda.so.1 ${names}/libcuda.so DESTINATION ${CMAKE_INSTALL_LIBDIR}/kaio/cuda)
endif()
set(package_directory ${CMAKE_INSTALL_LIBDIR}/cmake/kaio)
# The C interface has targets of its own: a project that asks for the component `c` alone needs no library that kaio is made of.
set(KAIO_HAS_C FALSE)
if(TARGET kaio_c)
  set(KAIO_HAS_C TRUE)
  install(TARGETS kaio_c EXPORT kaio_c_targets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
  if(WIN32)  # from which the tools of other compilers make an import library
    install(FILES ${PROJECT_BINARY_DIR}/src/c/kaio_c.def RENAME kaio.def DESTINATION ${CMAKE_INSTALL_LIBDIR})
  endif()
  install(EXPORT kaio_c_targets FILE kaioCTargets.cmake NAMESPACE kaio:: DESTINATION ${package_directory})
endif()
install(FILES cmake/kaio_add_ptx_tool.cmake cmake/kaio_check_kernels.cmake cmake/kaio_kernel_library.cmake cmake/kaio_precompile.cmake
  cmake/precompile.py cmake/precompiled.cpp.in cmake/ptx_tool_main.cpp.in cmake/ptxas.py tests/ptx/verify.py DESTINATION ${package_directory})
install(EXPORT kaio_targets FILE kaioTargets.cmake NAMESPACE kaio:: DESTINATION ${package_directory})

# A static runtime passes its own libraries on to targets that link it; a shared one has them inside.
get_target_property(runtime_type kaio_runtime TYPE)
if(runtime_type STREQUAL "STATIC_LIBRARY")
  set(KAIO_STATIC_RUNTIME TRUE)
  set(KAIO_PC_REQUIRES "Requires: spdlog fmt")
  if(ZLIB_FOUND)
    string(APPEND KAIO_PC_REQUIRES " zlib")
  endif()
  set(KAIO_PC_SYSTEM_LIBRARIES "-ldl -pthread")
else()
  set(KAIO_STATIC_RUNTIME FALSE)
  set(KAIO_PC_REQUIRES "Requires.private: spdlog fmt")
  set(KAIO_PC_SYSTEM_LIBRARIES "")
endif()
get_target_property(ops_type kaio_ops TYPE)
if(ops_type STREQUAL "INTERFACE_LIBRARY")
  set(KAIO_PC_LIBRARIES "-lkaio_runtime")
else()
  set(KAIO_PC_LIBRARIES "-lkaio_ops -lkaio_runtime")
  if(ops_type STREQUAL "STATIC_LIBRARY" AND TARGET kaio_ops_precompiled)
    string(PREPEND KAIO_PC_LIBRARIES "-Wl,--undefined=kaio_precompiled_ops ")
  endif()
endif()

if(KAIO_BUILD_WEIGHTS)
  string(PREPEND KAIO_PC_LIBRARIES "-lkaio_weights ")
endif()

configure_package_config_file(cmake/kaioConfig.cmake.in ${PROJECT_BINARY_DIR}/cmake/kaioConfig.cmake
  INSTALL_DESTINATION ${package_directory})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/cmake/kaioConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/cmake/kaioConfig.cmake ${PROJECT_BINARY_DIR}/cmake/kaioConfigVersion.cmake
  DESTINATION ${package_directory})

file(RELATIVE_PATH KAIO_PC_PREFIX /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
string(REGEX REPLACE "/$" "" KAIO_PC_PREFIX ${KAIO_PC_PREFIX})
configure_file(cmake/kaio.pc.in ${PROJECT_BINARY_DIR}/cmake/kaio.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/cmake/kaio.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
if(KAIO_HAS_C)
  configure_file(cmake/kaio-c.pc.in ${PROJECT_BINARY_DIR}/cmake/kaio-c.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/cmake/kaio-c.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endif()
