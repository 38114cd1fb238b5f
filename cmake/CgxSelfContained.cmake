# A build that needs nothing that is not on every Linux, and brings nothing that could clash with a framework's own
# libraries: LLVM, MLIR, OpenSSL and C++'s library are linked in, from archives, and none of their symbols leave. What
# wheels carry (setup.py).

# Of C++'s library; libgcc_s is one for the whole process, which unwinds the stacks of all.
add_link_options(-static-libstdc++)
# It and LLVM call a function that old systems do not have.
add_library(cgx_arc4random STATIC "${CMAKE_CURRENT_LIST_DIR}/self_contained/Arc4random.c")
set_target_properties(cgx_arc4random PROPERTIES POSITION_INDEPENDENT_CODE ON)
target_compile_definitions(cgx_arc4random PRIVATE _DEFAULT_SOURCE)
link_libraries($<BUILD_INTERFACE:$<$<NOT:$<STREQUAL:$<TARGET_PROPERTY:TYPE>,STATIC_LIBRARY>>:cgx_arc4random>>)
set(OPENSSL_USE_STATIC_LIBS TRUE)
set(Protobuf_USE_STATIC_LIBS ON)
# What compares with MPI and Gloo is left out (tools/bench); what calls MPI is loaded where there is one (runtime/transport/mpi).
set(CMAKE_DISABLE_FIND_PACKAGE_Gloo TRUE)
