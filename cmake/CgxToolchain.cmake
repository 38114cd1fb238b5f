# Sets the language, warnings, sanitizers, ccache and linker that all targets share.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_C_STANDARD 99)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/bin")
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/lib")
set(CMAKE_ARCHIVE_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/lib")

if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Build type" FORCE)
endif()
set(CMAKE_CXX_FLAGS_RELEASE "-O2")
set(CMAKE_C_FLAGS_RELEASE "-O2")

find_program(CGX_CCACHE ccache)
if(CGX_CCACHE)
  set(CGX_CCACHE_ENVIRONMENT CCACHE_BASEDIR=${CMAKE_SOURCE_DIR} CCACHE_NOHASHDIR=1)
  set(CMAKE_CXX_COMPILER_LAUNCHER "${CMAKE_COMMAND};-E;env;${CGX_CCACHE_ENVIRONMENT};${CGX_CCACHE}")
  set(CMAKE_C_COMPILER_LAUNCHER "${CMAKE_CXX_COMPILER_LAUNCHER}")
endif()

find_program(CGX_LLD NAMES ld.lld-22 ld.lld HINTS /usr/lib/llvm-22/bin)
if(CGX_LLD)
  add_link_options("-B${CMAKE_BINARY_DIR}/linker" -fuse-ld=lld)
  # g++ looks for a linker called ld.lld; Debian's is called ld.lld-22.
  file(MAKE_DIRECTORY "${CMAKE_BINARY_DIR}/linker")
  file(CREATE_LINK "${CGX_LLD}" "${CMAKE_BINARY_DIR}/linker/ld.lld" SYMBOLIC)
endif()

if(CGX_SANITIZE)
  add_compile_options(-fsanitize=${CGX_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all -g)
  add_link_options(-fsanitize=${CGX_SANITIZE})
  if(CGX_SANITIZE MATCHES thread AND CMAKE_CXX_COMPILER_ID STREQUAL GNU)
    add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-Wno-tsan>) # Asio has fences, which GCC's sanitizer does not follow
  endif()
endif()

# Coverage that libFuzzer follows; only fuzz targets link its main.
if(CGX_FUZZER)
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()

# cgx_unity(target): compiles the target's sources sixteen at a time, because headers (of MLIR, JSON, the
# command line) take nearly all of a source's time. A name in an anonymous namespace must therefore be unique
# in the library.
function(cgx_unity target)
  set_target_properties(${target} PROPERTIES UNITY_BUILD ${CGX_UNITY} UNITY_BUILD_BATCH_SIZE 16)
endfunction()

# cgx_compile_options(target): sets the flags for our own code only.
function(cgx_compile_options target)
  # Fields that a designated initializer leaves out are 0 on purpose: a cgx_codec has the fields of all
  # families. Clang also warns of declarations that libstdc++ 12 deprecates and uses itself. nvcc has its own
  # names for these flags, in kernels/cuda.
  target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:C,CXX>:-Wall -Wextra -Wno-missing-field-initializers
    $<$<CXX_COMPILER_ID:Clang>:-Wno-deprecated-declarations>
    $<$<BOOL:${CGX_WARNINGS_AS_ERRORS}>:-Werror>>)
endfunction()
