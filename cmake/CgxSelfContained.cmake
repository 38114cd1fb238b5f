# Makes a build that needs only what every Linux has, and that cannot clash with a framework's own libraries:
# LLVM, MLIR, OpenSSL and the C++ library are linked in from archives, and none of their symbols are exported.
# Wheels contain this build (setup.py).

# This links the C++ library in. libgcc_s stays shared, because one copy must unwind the stacks of the whole
# process.
add_link_options(-static-libstdc++)
# The C++ library and LLVM call a function that old systems do not have.
add_library(cgx_arc4random STATIC "${CMAKE_CURRENT_LIST_DIR}/self_contained/Arc4random.c")
set_target_properties(cgx_arc4random PROPERTIES POSITION_INDEPENDENT_CODE ON)
target_compile_definitions(cgx_arc4random PRIVATE _DEFAULT_SOURCE)
link_libraries($<BUILD_INTERFACE:$<$<NOT:$<STREQUAL:$<TARGET_PROPERTY:TYPE>,STATIC_LIBRARY>>:cgx_arc4random>>)
set(OPENSSL_USE_STATIC_LIBS TRUE)
set(Protobuf_USE_STATIC_LIBS ON)
# The comparisons with MPI and Gloo are left out (tools/bench). The part that calls MPI is loaded where there
# is one (runtime/transport/mpi).
set(CMAKE_DISABLE_FIND_PACKAGE_Gloo TRUE)
