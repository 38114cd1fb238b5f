# Finds LLVM and MLIR 22 as Debian packages them. They are linked as their two shared libraries, or from their
# archives in a self-contained build.

find_package(MLIR 22.1 REQUIRED CONFIG HINTS /usr/lib/llvm-22/lib/cmake/mlir)
list(APPEND CMAKE_MODULE_PATH "${MLIR_CMAKE_DIR}" "${LLVM_CMAKE_DIR}")
set(LLVM_EXTERNAL_LIT "${LLVM_TOOLS_BINARY_DIR}/lit" CACHE STRING "lit")
include(TableGen)
include(AddLLVM)
include(AddMLIR)
include(CgxClang)

if(CGX_SELF_CONTAINED)
  if(NOT CGX_LLD)
    message(FATAL_ERROR "expected lld for a self-contained build, as it reads LLVM's archives in any order (lld-22), found none")
  endif()
  file(GLOB archives "${LLVM_LIBRARY_DIR}/libMLIR*.a" "${LLVM_LIBRARY_DIR}/libLLVM*.a")
  # These archives are left out: programs of their own, and MLIR's C interface.
  list(FILTER archives EXCLUDE REGEX "libMLIR(MlirOptMain|CAPI|Test|.*[rR]unner)")
  if(NOT archives)
    message(FATAL_ERROR "expected archives of LLVM and MLIR in ${LLVM_LIBRARY_DIR} (libmlir-22-dev, llvm-22-dev), found none")
  endif()
  set(CGX_MLIR ${archives} -Wl,--gc-sections -Wl,--icf=safe -Wl,--exclude-libs,ALL
    -Wl,--push-state,-Bstatic -lz -lzstd -Wl,--pop-state)
else()
  set(CGX_MLIR MLIR LLVM)
endif()

# cgx_mlir_library(target SOURCES ... INCLUDES ... LINKS ... DEPENDS ...): a static library
# of compiler code. INCLUDES are its public include folders, LINKS our own libraries
# under it, DEPENDS the TableGen targets whose output it includes.
function(cgx_mlir_library target)
  cmake_parse_arguments(ARG "" "" "SOURCES;INCLUDES;LINKS;DEPENDS" ${ARGN})
  add_library(${target} STATIC ${ARG_SOURCES})
  target_include_directories(${target} SYSTEM PUBLIC ${LLVM_INCLUDE_DIRS} ${MLIR_INCLUDE_DIRS})
  foreach(folder ${ARG_INCLUDES})
    cmake_path(ABSOLUTE_PATH folder BASE_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR} NORMALIZE)
    target_include_directories(${target} PUBLIC $<BUILD_INTERFACE:${folder}>)
  endforeach()
  target_include_directories(${target} PUBLIC $<INSTALL_INTERFACE:include>)
  target_link_libraries(${target} PUBLIC ${ARG_LINKS} ${CGX_MLIR})
  if(ARG_DEPENDS)
    add_dependencies(${target} ${ARG_DEPENDS})
  endif()
  cgx_unity(${target})
  cgx_mlir_options(${target})
endfunction()

# cgx_mlir_executable(target SOURCES ... LINKS ...): a compiler tool.
function(cgx_mlir_executable target)
  cmake_parse_arguments(ARG "" "" "SOURCES;LINKS" ${ARGN})
  add_executable(${target} ${ARG_SOURCES})
  target_include_directories(${target} SYSTEM PRIVATE ${LLVM_INCLUDE_DIRS} ${MLIR_INCLUDE_DIRS})
  target_link_libraries(${target} PRIVATE ${ARG_LINKS} ${CGX_MLIR})
  cgx_mlir_options(${target})
endfunction()

# cgx_mlir_options(target): sets the flags and the compiler of sources that include MLIR's headers.
function(cgx_mlir_options target)
  llvm_update_compile_flags(${target})
  cgx_compile_options(${target})
  cgx_compile_with_clang(${target})
endfunction()
