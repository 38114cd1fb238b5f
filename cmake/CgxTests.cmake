# Marks long tests: those that take about half a minute or more on two cores, and those that repeat at length
# what another test shows, have the label `long`, which tools/check leaves out and tools/check --full runs.

# cgx_long_tests(name ...): marks tests of this folder.
function(cgx_long_tests)
  foreach(name ${ARGN})
    if(TEST ${name})
      set_property(TEST ${name} APPEND PROPERTY LABELS long)
    endif()
  endforeach()
endfunction()

# cgx_long_cases(name binary filter): moves the GoogleTest cases that the filter names from a test into a long
# test of their own, <name>.long, with the properties that the test has so far.
function(cgx_long_cases name binary filter)
  add_test(NAME ${name}.long COMMAND ${binary} --gtest_filter=${filter})
  foreach(property ENVIRONMENT LABELS RUN_SERIAL TIMEOUT)
    get_test_property(${name} ${property} value)
    if(value)
      set_property(TEST ${name}.long PROPERTY ${property} "${value}")
    endif()
  endforeach()
  # GoogleTest reads it where no filter is given.
  set_property(TEST ${name} APPEND PROPERTY ENVIRONMENT "GTEST_FILTER=-${filter}")
  cgx_long_tests(${name}.long)
endfunction()
