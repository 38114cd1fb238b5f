# Builds the targets of tools/check-gpu: the kernels, their tests on a GPU and their benchmark, which need
# CUDA, CMake and a compiler; the runtime with cgx-bench, if its libraries are installed; and, with
# GoogleTest, the tests of collectives on GPUs. A line that tools/check-gpu repeats names each part that is
# left out.

set(CGX_BUNDLE "" CACHE PATH "Headers that this machine lacks, from `tools/check-gpu --bundle`")
if(CGX_BUNDLE)
  list(PREPEND CMAKE_PREFIX_PATH "${CGX_BUNDLE}")
endif()

enable_testing()
find_package(Threads REQUIRED)
find_package(GTest QUIET)
set(bundled "${CGX_BUNDLE}/googletest")
if(NOT TARGET GTest::gtest_main AND EXISTS "${bundled}/src/gtest-all.cc")
  add_library(cgx_bundled_gtest STATIC EXCLUDE_FROM_ALL "${bundled}/src/gtest-all.cc" "${bundled}/src/gtest_main.cc")
  target_include_directories(cgx_bundled_gtest SYSTEM PUBLIC "${bundled}/include" PRIVATE "${bundled}")
  target_link_libraries(cgx_bundled_gtest PUBLIC Threads::Threads)
  add_library(GTest::gtest_main ALIAS cgx_bundled_gtest)
endif()
add_subdirectory(kernels)

find_package(nlohmann_json 3.11 QUIET)
find_package(CLI11 QUIET)
set(missing)
foreach(library nlohmann_json CLI11)
  if(NOT ${library}_FOUND)
    list(APPEND missing ${library})
  endif()
endforeach()
list(JOIN missing " and " missing)
if(missing)
  message(STATUS "left out: the runtime, cgx-bench, tests of collectives: expected ${missing}, found none")
else()
  add_subdirectory(runtime)
  add_subdirectory(tools/cli) # what the command line of cgx-bench is made of
  add_subdirectory(tools/bench)
  if(TARGET GTest::gtest_main)
    add_subdirectory(test/unit/runtime EXCLUDE_FROM_ALL) # what the tests of collectives share
  else()
    message(STATUS "left out: tests of collectives: expected GoogleTest, found none")
  endif()
endif()
add_subdirectory(test/unit/cuda)
