# The warnings that every file of this repository compiles without. They are ours: nothing of them reaches a
# program that links kaio.

set(KAIO_WARNING_FLAGS -Wall -Wextra -Wpedantic -Wconversion -Wshadow)
if(KAIO_WERROR)
  list(APPEND KAIO_WARNING_FLAGS -Werror)
endif()

function(kaio_warnings target)
  target_compile_options(${target} PRIVATE ${KAIO_WARNING_FLAGS})
endfunction()
