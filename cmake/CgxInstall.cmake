# Defines the results of `cmake --install` and `cpack`.
#
# Components: `runtime` is for machines that only run compiled steps, and needs no LLVM; `compiler` is the
# rest, with libraries and headers for tools of one's own; `python` goes into a wheel. Paths inside are
# relative, so that a prefix can be moved.

include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
include(CgxManual)

set(cgx_package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/cgx)
set(cgx_programs cgx cgx-bench cgx-plan cgx-curves)
if(CGX_BUILD_NATIVE)
  list(APPEND cgx_programs cgx-run)
endif()
set(cgx_libraries cgx_codec_abi cgx_abi cgx_runtime)

# A wheel holds no links, so its libraries have one name each and lie beside each other.
if(CGX_SELF_CONTAINED)
  set(cgx_library_version)
else()
  set(cgx_library_version VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR})
endif()
if(cgx_library_version)
  set_target_properties(cgx_runtime cgx_cuda PROPERTIES ${cgx_library_version})
endif()
if(TARGET cgx_native)
  list(APPEND cgx_libraries cgx_native_abi cgx_native)
  set_target_properties(cgx_native_abi PROPERTIES EXPORT_NAME native_abi)
  set_target_properties(cgx_native PROPERTIES ${cgx_library_version} EXPORT_NAME native INSTALL_RPATH "$ORIGIN" INSTALL_RPATH_USE_LINK_PATH ON)
endif()
set_target_properties(cgx_codec_abi PROPERTIES EXPORT_NAME codec_abi)
set_target_properties(cgx_abi PROPERTIES EXPORT_NAME abi)
set_target_properties(cgx_runtime PROPERTIES EXPORT_NAME runtime)
# Programs find their libraries beside each other, and where those were found that they were linked with.
set_target_properties(${cgx_programs} PROPERTIES
  INSTALL_RPATH "$ORIGIN/../${CMAKE_INSTALL_LIBDIR}" INSTALL_RPATH_USE_LINK_PATH ON)
set_target_properties(cgx_runtime PROPERTIES INSTALL_RPATH "$ORIGIN" INSTALL_RPATH_USE_LINK_PATH ON)

# This rule comes first, so that later ones find the folders.
macro(cgx_install_folders component)
  install(CODE "set(cgx_folders \"${ARGN}\")
include(\"${PROJECT_SOURCE_DIR}/cmake/install/folders.cmake\")" COMPONENT ${component})
endmacro()
cgx_install_folders(runtime ${CMAKE_INSTALL_BINDIR} ${CMAKE_INSTALL_INCLUDEDIR} ${cgx_package_folder}
  ${CMAKE_INSTALL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_MANDIR}/man1 ${CMAKE_INSTALL_DOCDIR}
  ${CMAKE_INSTALL_DATAROOTDIR}/bash-completion/completions ${CMAKE_INSTALL_DATAROOTDIR}/zsh/site-functions)
install(TARGETS ${cgx_programs} RUNTIME COMPONENT runtime)
if(CGX_SELF_CONTAINED AND CGX_BUILD_COMPILER)
  cgx_manual(runtime ${cgx_programs} cgx-opt)
else()
  cgx_manual(runtime ${cgx_programs})
endif()
install(TARGETS cgx_cuda COMPONENT runtime)
# This part calls MPI. The library for MPICH is in no Debian package, because that would depend on both MPIs.
if(TARGET cgx_mpi)
  install(TARGETS cgx_mpi LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT runtime)
endif()
if(TARGET cgx_mpi_mpich)
  install(TARGETS cgx_mpi_mpich LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT mpich)
endif()
install(TARGETS ${cgx_libraries} EXPORT cgx-runtime-targets COMPONENT runtime)
set(cgx_headers kernels/abi/include/cgx runtime/abi/include/cgx)
if(CGX_BUILD_NATIVE)
  list(APPEND cgx_headers runtime/native/abi/include/cgx)
endif()
install(DIRECTORY ${cgx_headers} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
  COMPONENT runtime FILES_MATCHING PATTERN "*.h")
# bash-completion loads the file that has the command's name.
foreach(command cgx cgx-opt cgx-compile cgx-run cgx-plan cgx-bench cgx-curves)
  install(FILES tools/front/completion/cgx.bash DESTINATION ${CMAKE_INSTALL_DATAROOTDIR}/bash-completion/completions
    COMPONENT runtime RENAME ${command})
endforeach()
install(FILES tools/front/completion/_cgx DESTINATION ${CMAKE_INSTALL_DATAROOTDIR}/zsh/site-functions COMPONENT runtime)
install(FILES LICENSE kernels/FORMAT.md DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT runtime)
install(EXPORT cgx-runtime-targets NAMESPACE cgx:: DESTINATION ${cgx_package_folder} COMPONENT runtime)

configure_package_config_file(cmake/install/cgxConfig.cmake.in cgxConfig.cmake
  INSTALL_DESTINATION ${cgx_package_folder})
write_basic_package_version_file(cgxConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/cgxConfig.cmake ${CMAKE_CURRENT_BINARY_DIR}/cgxConfigVersion.cmake
  DESTINATION ${cgx_package_folder} COMPONENT runtime)
configure_file(cmake/install/cgx.pc.in cgx.pc @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/cgx.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT runtime)

if(CGX_BUILD_COMPILER AND CGX_SELF_CONTAINED AND CGX_BUILD_NATIVE)
  # These programs are in the wheel of native execution; the runtime is in the other wheel, beside it.
  set_target_properties(cgx-run cgx-compile PROPERTIES INSTALL_RPATH "$ORIGIN/../lib:$ORIGIN/../../cgx_core/lib"
    INSTALL_RPATH_USE_LINK_PATH OFF)
  set_target_properties(cgx_native cgx_step_compiler PROPERTIES INSTALL_RPATH "$ORIGIN:$ORIGIN/../../cgx_core/lib"
    INSTALL_RPATH_USE_LINK_PATH OFF)
  install(TARGETS cgx-run cgx-compile RUNTIME DESTINATION bin COMPONENT native)
  install(TARGETS cgx_native cgx_step_compiler LIBRARY DESTINATION lib COMPONENT native)
  install(DIRECTORY runtime/native/abi/include/cgx DESTINATION include COMPONENT native FILES_MATCHING PATTERN "*.h")
elseif(CGX_BUILD_COMPILER AND CGX_SELF_CONTAINED)
  # This is a part of the wheel, which compiles no other tools on MLIR.
  set_target_properties(cgx-opt cgx-lsp-server PROPERTIES INSTALL_RPATH "$ORIGIN/../${CMAKE_INSTALL_LIBDIR}")
  set_target_properties(cgx_compiler PROPERTIES INSTALL_RPATH "$ORIGIN")
  install(TARGETS cgx-opt cgx-lsp-server RUNTIME COMPONENT runtime)
elseif(CGX_BUILD_COMPILER)
  set(cgx_compiler_programs cgx-opt cgx-lsp-server)
  set(cgx_compiler_modules cgx_plugin)
  set(cgx_compiler_libraries CgxDialect CgxStablehloDialect CgxSdyDialect CgxImportPasses CgxRewritePasses
    CgxLoweringPasses CgxRegistration CgxNativeRegistration cgx_formats cgx_layers cgx_output)
  if(CGX_BUILD_NATIVE)
    list(APPEND cgx_compiler_libraries CgxNativePasses cgx_compile)
    list(APPEND cgx_compiler_programs cgx-compile)
    list(APPEND cgx_compiler_modules cgx_step_compiler)
  endif()
  set_target_properties(${cgx_compiler_programs} PROPERTIES
    INSTALL_RPATH "$ORIGIN/../${CMAKE_INSTALL_LIBDIR}" INSTALL_RPATH_USE_LINK_PATH ON)
  set_target_properties(${cgx_compiler_modules} PROPERTIES INSTALL_RPATH "$ORIGIN" INSTALL_RPATH_USE_LINK_PATH ON)
  cgx_install_folders(compiler ${CMAKE_INSTALL_BINDIR} ${CMAKE_INSTALL_INCLUDEDIR} ${cgx_package_folder}
    ${CMAKE_INSTALL_MANDIR}/man1)
  install(TARGETS ${cgx_compiler_programs} RUNTIME COMPONENT compiler)
  set(described ${cgx_compiler_programs})
  list(REMOVE_ITEM described cgx-lsp-server) # which editors start
  cgx_manual(compiler ${described})
  set_target_properties(cgx_compiler PROPERTIES VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}
    EXPORT_NAME compiler INSTALL_RPATH "$ORIGIN" INSTALL_RPATH_USE_LINK_PATH ON)
  install(TARGETS cgx_compiler EXPORT cgx-compiler-targets COMPONENT compiler)
  install(TARGETS ${cgx_compiler_modules} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT compiler)
  install(TARGETS ${cgx_compiler_libraries} EXPORT cgx-compiler-targets COMPONENT compiler)
  install(EXPORT cgx-compiler-targets NAMESPACE cgx:: DESTINATION ${cgx_package_folder} COMPONENT compiler)
  # Headers and TableGen files are installed, both written by hand and generated.
  set(folders runtime/layers dialect/cgx dialect/stablehlo dialect/sdy passes tools/registration tools/compiler)
  if(CGX_BUILD_NATIVE)
    list(APPEND folders tools/compile)
  endif()
  foreach(folder ${folders})
    install(DIRECTORY ${folder}/include/cgx DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT compiler
      FILES_MATCHING PATTERN "*.h" PATTERN "*.td")
  endforeach()
  foreach(folder dialect/cgx dialect/stablehlo dialect/sdy passes passes/import passes/rewrite)
    install(DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/${folder}/include/cgx DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
      COMPONENT compiler OPTIONAL FILES_MATCHING PATTERN "*.inc")
  endforeach()
endif()

# This library connects collectives inside XLA to the runtime, for host programs that are not Python.
if(TARGET cgx_xla)
  set_target_properties(cgx_xla PROPERTIES INSTALL_RPATH "$ORIGIN")
  install(TARGETS cgx_xla LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT runtime)
  install(FILES tools/jax/ffi/include/cgx/xla.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/cgx COMPONENT runtime)
endif()

# The Python packages open these libraries. In a wheel the component `runtime` lies beside them (setup.py).
set(cgx_python_libraries cgx_cuda cgx_runtime)
foreach(library cgx_compiler cgx_mpi cgx_mpi_mpich cgx_xla)
  if(TARGET ${library})
    list(APPEND cgx_python_libraries ${library})
  endif()
endforeach()
install(TARGETS ${cgx_python_libraries} LIBRARY DESTINATION lib COMPONENT python NAMELINK_SKIP)

set(CPACK_PACKAGE_NAME cgx)
set(CPACK_PACKAGE_VENDOR "The cgx authors")
set(CPACK_PACKAGE_CONTACT "${CPACK_PACKAGE_VENDOR}")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "Compiler and runtime that make the collectives of distributed training cheap")
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_GENERATOR DEB)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_COMPONENTS_ALL runtime)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_STRIP_FILES ON)
set(CPACK_PRE_BUILD_SCRIPTS ${PROJECT_SOURCE_DIR}/cmake/install/debian.cmake)
set(CPACK_DEBIAN_RUNTIME_PACKAGE_NAME cgx-runtime)
set(CPACK_COMPONENT_RUNTIME_DESCRIPTION "What runs compiled steps: programs, library and C headers. Needs no LLVM.")
if(CGX_BUILD_COMPILER)
  list(APPEND CPACK_COMPONENTS_ALL compiler)
  set(CPACK_DEBIAN_COMPILER_PACKAGE_NAME cgx)
  set(CPACK_DEBIAN_COMPILER_PACKAGE_DEPENDS "cgx-runtime (= ${PROJECT_VERSION})")
  set(CPACK_COMPONENT_COMPILER_DESCRIPTION "The compiler, its plugin for mlir-opt, and libraries for other tools.")
endif()
# The compiler's programs depend on the runtime's library, which is in the other package.
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${CMAKE_LIBRARY_OUTPUT_DIRECTORY})
include(CPack)
