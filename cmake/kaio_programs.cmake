# kaio_programs(prefix directory runtime): one program for each folder in `directory` that holds .cpp files. The
# folder `saxpy` gives the target `<prefix>_saxpy` and the program `<build>/<directory>/saxpy`; the targets'
# names come back in KAIO_PROGRAMS. They link the library `runtime`.

function(kaio_programs prefix directory runtime)
  set(programs)
  file(GLOB folders CONFIGURE_DEPENDS LIST_DIRECTORIES true ${PROJECT_SOURCE_DIR}/${directory}/*)
  foreach(folder IN LISTS folders)
    file(GLOB sources CONFIGURE_DEPENDS ${folder}/*.cpp)
    if(NOT IS_DIRECTORY ${folder} OR NOT sources)
      continue()
    endif()
    get_filename_component(name ${folder} NAME)
    set(target ${prefix}_${name})
    add_executable(${target} ${sources})
    set_target_properties(${target} PROPERTIES
      OUTPUT_NAME ${name} RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/${directory})
    target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR})
    target_link_libraries(${target} PRIVATE kaio::dsl ${runtime} Threads::Threads ${CMAKE_DL_LIBS})
    kaio_warnings(${target})
    kaio_quick(${target} -O1)
    kaio_check_kernels(${target})
    list(APPEND programs ${target})
  endforeach()
  set(KAIO_PROGRAMS ${programs} PARENT_SCOPE)
endfunction()
