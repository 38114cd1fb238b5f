# Finds MPICH beside another MPI that CMake has found, because Debian's packages of both can be installed
# together, and a runtime works under the mpirun that started its ranks. Intel MPI and MVAPICH have the ABI of
# MPICH. Defines the target cgx_mpich where there is one.
if(MPI_C_FOUND AND NOT MPI_C_LIBRARIES MATCHES mpich)
  find_program(CGX_MPICC_MPICH mpicc.mpich)
  find_library(CGX_MPICH_LIBRARY mpich)
  if(CGX_MPICC_MPICH AND CGX_MPICH_LIBRARY)
    execute_process(COMMAND ${CGX_MPICC_MPICH} -compile_info OUTPUT_VARIABLE flags COMMAND_ERROR_IS_FATAL ANY)
    if(flags MATCHES "-I([^ \n]+)")
      message(STATUS "MPICH: ${CGX_MPICH_LIBRARY}")
      add_library(cgx_mpich INTERFACE)
      target_include_directories(cgx_mpich SYSTEM INTERFACE ${CMAKE_MATCH_1})
      target_link_libraries(cgx_mpich INTERFACE ${CGX_MPICH_LIBRARY})
    endif()
  endif()
endif()
