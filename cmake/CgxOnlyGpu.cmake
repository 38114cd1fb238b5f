# What tools/check-gpu builds: the kernels, their tests on a GPU and their benchmark, which need CUDA, CMake and a compiler;
# and the runtime with cgx-bench, where its libraries are installed; with GoogleTest, the tests of collectives on GPUs.

enable_testing()
add_subdirectory(kernels)

find_package(nlohmann_json 3.11 QUIET)
find_package(CLI11 QUIET)
find_package(PkgConfig QUIET)
if(PkgConfig_FOUND)
  pkg_check_modules(OpenBLAS QUIET openblas)
endif()
set(missing)
foreach(library nlohmann_json CLI11 OpenBLAS)
  if(NOT ${library}_FOUND)
    list(APPEND missing ${library})
  endif()
endforeach()
if(missing)
  message(STATUS "runtime: not built, missing: ${missing}")
else()
  add_subdirectory(runtime)
  add_subdirectory(tools/bench)
  find_package(GTest QUIET)
  if(GTest_FOUND)
    add_subdirectory(test/unit/runtime EXCLUDE_FROM_ALL) # what the tests of collectives share
  endif()
endif()
add_subdirectory(test/unit/cuda)
