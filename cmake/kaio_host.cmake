# What differs between systems: each file of src/host/posix has one of the same name in src/host/windows, and both have the
# interface of src/host/system.
#
#   kaio_host_sources(variable name...)   appends these files for the system that is built for; without names all

function(kaio_host_sources variable)
  set(system posix)
  if(WIN32)
    set(system windows)
  endif()
  set(files)
  if(ARGN)
    foreach(name IN LISTS ARGN)
      list(APPEND files ${PROJECT_SOURCE_DIR}/src/host/${system}/${name}.cpp)
    endforeach()
    if(WIN32)
      list(APPEND files ${PROJECT_SOURCE_DIR}/src/host/windows/system.cpp)
    endif()
  else()
    file(GLOB files CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/host/${system}/*.cpp)
  endif()
  set(${variable} ${${variable}} ${files} PARENT_SCOPE)
endfunction()
