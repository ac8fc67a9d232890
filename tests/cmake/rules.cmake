# How the tree is made: includes, documents, style.

# Which file may include which.
add_test(NAME include_rule COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/include_rule.py)
set_tests_properties(include_rule PROPERTIES LABELS rules)

# Which part a commit has of the tests that take turns.
add_test(NAME turn COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/turn_test.py)
set_tests_properties(turn PROPERTIES LABELS rules)

# How many instructions each family of kernels may have.
add_test(NAME budget COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/rules/budget_test.py)
set_tests_properties(budget PROPERTIES LABELS rules)

# The recorded measurements and their page.
add_test(NAME measurements COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/rules/measurements_test.py)
set_tests_properties(measurements PROPERTIES LABELS rules)

# The report of the measurements as HTML, and its script in a browser.
add_test(NAME html_report COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/html_report/report_test.py)
add_test(NAME html_report.browser COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/html_report/browser_test.py)
set_tests_properties(html_report html_report.browser PROPERTIES LABELS rules TIMEOUT 120 SKIP_RETURN_CODE ${skipped})

# Sentences that are read once, files that comments name, and pages that answer what is searched for.
foreach(rule words mentions pages)
  add_test(NAME ${rule} COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/rules/${rule}.py)
  set_tests_properties(${rule} PROPERTIES LABELS rules)
endforeach()

# The purpose of each kernel of attention.
add_test(NAME attention_kernels COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/attention_kernels.py)
set_tests_properties(attention_kernels PROPERTIES LABELS rules)

# The names that the directive of README brings.
add_test(NAME names COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/names.py check
  ${CMAKE_CURRENT_BINARY_DIR}/names -- ${compile})
set_tests_properties(names PROPERTIES LABELS rules TIMEOUT 300)

# The recorded frequencies of rotary embeddings are those of transformers, where it is installed.
add_test(NAME rope_tables COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/ops/cache/rope_tables.py
  ${CMAKE_CURRENT_SOURCE_DIR}/ops/cache/rotary_recorded.inc)
set_tests_properties(rope_tables PROPERTIES LABELS rules TIMEOUT 300 SKIP_RETURN_CODE ${skipped})

# Every function has a case of the tests of derivative().
add_test(NAME derivatives COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/derivatives.py)
set_tests_properties(derivatives PROPERTIES LABELS rules)

# The table of promises matches its data, and its tests exist where all are built.
set(complete_build)
if(KAIO_BUILD_OPS AND "ops" IN_LIST KAIO_TESTS)
  set(complete_build ${PROJECT_BINARY_DIR})
endif()
add_test(NAME reliability COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/reliability/reliability.py check
  ${complete_build})
set_tests_properties(reliability PROPERTIES LABELS rules)

# The examples of the documents: programs are built and run, on the emulator and on a GPU where there is one;
# the others must compile, with kaio's headers as the system's, as an installed package has them.
set(compile_example ${compile})
list(TRANSFORM compile_example REPLACE "^-I(.*/include)$" "-isystem\\1")
add_test(NAME docs COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/docs.py compile
  ${CMAKE_CURRENT_BINARY_DIR}/docs/blocks -- ${compile_example})
set_tests_properties(docs PROPERTIES LABELS rules TIMEOUT 600)
file(GLOB_RECURSE documents CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/docs/*.md)
list(APPEND documents ${PROJECT_SOURCE_DIR}/README.md ${PROJECT_SOURCE_DIR}/CONTRIBUTING.md)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${documents})
if("docs" IN_LIST KAIO_TESTS)
  set(folder ${CMAKE_CURRENT_BINARY_DIR}/docs)
  execute_process(COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/docs.py programs ${folder}
    OUTPUT_VARIABLE programs OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
  string(REPLACE "\n" ";" programs "${programs}")
  foreach(program IN LISTS programs)
    add_executable(kaio_docs_${program} ${folder}/${program}.cpp)
    set_target_properties(kaio_docs_${program} PROPERTIES
      OUTPUT_NAME ${program} RUNTIME_OUTPUT_DIRECTORY ${folder}/bin)
    target_link_libraries(kaio_docs_${program} PRIVATE kaio::kaio kaio::weights)
    kaio_warnings(kaio_docs_${program})
    kaio_check_kernels(kaio_docs_${program})
    add_test(NAME docs.${program} COMMAND kaio_docs_${program})
    set_tests_properties(docs.${program} PROPERTIES LABELS rules TIMEOUT 120
      ENVIRONMENT "KAIO_DEVICE=emulator;KAIO_SANITIZE=all;KAIO_STRICT=sm_80,sm_90a")
    add_test(NAME docs.${program}.gpu COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/on_gpu.py
      $<TARGET_FILE:kaio_docs_${program}>)
    set_tests_properties(docs.${program}.gpu PROPERTIES LABELS gpu TIMEOUT 120 ENVIRONMENT KAIO_DEVICE=cuda:0
      SKIP_RETURN_CODE ${skipped})
  endforeach()
endif()

# How the files are written. The tools are pinned: another version would ask for another form.
foreach(tool format tidy shell)
  add_test(NAME style.${tool} COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/style.py ${tool}
    --build ${PROJECT_BINARY_DIR} ${turn_of_script})
  kaio_turn_timeout(timeout 900 12)
  set_tests_properties(style.${tool} PROPERTIES LABELS style TIMEOUT ${timeout} SKIP_RETURN_CODE ${skipped})
endforeach()
set_tests_properties(style.tidy PROPERTIES PROCESSORS ${processors})
