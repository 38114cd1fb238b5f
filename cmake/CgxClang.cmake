# Compiles sources that include MLIR's headers with clang, if there is one, and precompiles these headers.
#
# They take most of the time of a first build. Clang needs half of GCC's time, and 40 % with the headers
# precompiled; GCC's own precompiled headers are seven times as large and take half a minute to make. The code
# that runs (kernels, runtime) stays with the compiler of the project. CMake has one C++ compiler per project,
# so clang comes as a launcher that drops the name of the other (instead_of_compiler). Both take equal flags,
# except those of precompiled headers.

if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
  find_program(CGX_CLANG NAMES clang++-22 HINTS ${LLVM_TOOLS_BINARY_DIR}
    DOC "Compiles what includes MLIR's headers; empty: the compiler of the rest, which takes twice as long")
  if(CGX_CLANG) # as CMake has them for clang
    set(CMAKE_PCH_EXTENSION .pch)
    set(CMAKE_CXX_COMPILE_OPTIONS_INSTANTIATE_TEMPLATES_PCH -fpch-instantiate-templates)
    set(CMAKE_CXX_COMPILE_OPTIONS_CREATE_PCH -Xclang -emit-pch -Xclang -include -Xclang <PCH_HEADER> -x c++-header)
    set(CMAKE_CXX_COMPILE_OPTIONS_USE_PCH
      -Xclang -include-pch -Xclang <PCH_FILE> -Xclang -include -Xclang <PCH_HEADER>)
  else()
    message(STATUS "Compiler: by ${CMAKE_CXX_COMPILER}, for want of clang-22; twice as long")
  endif()
endif()

# Compiling each source by itself checks that it includes its own headers.
set(CGX_PRECOMPILED_HEADERS OFF)
if(CGX_UNITY AND (CGX_CLANG OR CMAKE_CXX_COMPILER_ID STREQUAL Clang))
  set(CGX_PRECOMPILED_HEADERS ON)
endif()

# Most of our sources include these headers of MLIR.
set(CGX_MLIR_HEADERS
  <mlir/Dialect/Arith/IR/Arith.h>
  <mlir/Dialect/Bufferization/IR/Bufferization.h>
  <mlir/Dialect/Func/IR/FuncOps.h>
  <mlir/Dialect/Linalg/IR/Linalg.h>
  <mlir/Dialect/Linalg/Transforms/Transforms.h>
  <mlir/Dialect/Math/IR/Math.h>
  <mlir/Dialect/MemRef/IR/MemRef.h>
  <mlir/Dialect/SCF/IR/SCF.h>
  <mlir/Dialect/Tensor/IR/Tensor.h>
  <mlir/IR/Builders.h>
  <mlir/IR/BuiltinOps.h>
  <mlir/IR/DialectImplementation.h>
  <mlir/IR/IRMapping.h>
  <mlir/IR/ImplicitLocOpBuilder.h>
  <mlir/IR/Matchers.h>
  <mlir/IR/PatternMatch.h>
  <mlir/IR/SymbolTable.h>
  <mlir/IR/TypeUtilities.h>
  <mlir/Interfaces/ControlFlowInterfaces.h>
  <mlir/Interfaces/FunctionInterfaces.h>
  <mlir/Interfaces/SideEffectInterfaces.h>
  <mlir/Pass/PassManager.h>
  <mlir/Transforms/DialectConversion.h>
  <mlir/Transforms/GreedyPatternRewriteDriver.h>
  <mlir/Transforms/InliningUtils.h>
  <mlir/Transforms/WalkPatternRewriteDriver.h>
  <llvm/ADT/DenseMap.h>
  <llvm/ADT/DenseSet.h>
  <llvm/ADT/MapVector.h>
  <llvm/ADT/SetVector.h>
  <llvm/ADT/StringExtras.h>
  <llvm/ADT/StringSet.h>
  <llvm/ADT/TypeSwitch.h>
  <llvm/Support/CheckedArithmetic.h>
  <llvm/Support/JSON.h>)

# cgx_precompile_headers(target HEADER ... | REUSE_FROM other)
function(cgx_precompile_headers target)
  if(CGX_PRECOMPILED_HEADERS AND "REUSE_FROM" IN_LIST ARGN)
    target_precompile_headers(${target} ${ARGN})
  elseif(CGX_PRECOMPILED_HEADERS)
    target_precompile_headers(${target} PRIVATE ${ARGN})
  endif()
endfunction()

# cgx_compile_with_clang(target)
function(cgx_compile_with_clang target)
  if(CGX_CLANG)
    set(launcher "${CMAKE_SOURCE_DIR}/cmake/instead_of_compiler")
    if(CGX_CCACHE) # With that sloppiness: otherwise it compiles anew what reads precompiled headers.
      list(PREPEND launcher "${CMAKE_COMMAND}" -E env ${CGX_CCACHE_ENVIRONMENT} CCACHE_SLOPPINESS=pch_defines,time_macros)
      list(APPEND launcher "${CGX_CCACHE}")
    else()
      list(APPEND launcher env)
    endif()
    set_target_properties(${target} PROPERTIES CXX_COMPILER_LAUNCHER "${launcher};${CGX_CLANG}")
    target_compile_options(${target} PRIVATE -Wno-deprecated-declarations) # see cgx_compile_options
  endif()
  # Passes spend their time in MLIR's own code: with -O2 no step was imported faster. All sources that read
  # one precompiled header need one level.
  if(CGX_PRECOMPILED_HEADERS)
    target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-O1> "SHELL:-Xclang -fno-pch-timestamp")
  endif()
endfunction()
