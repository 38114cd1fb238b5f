# Adds what Debian requires of every package and a prefix does not need: a copyright file, compressed manual
# pages, and folders that all users can read whatever the umask of the packager is. cpack runs this script on
# the contents of its packages, one folder per component.
foreach(component ${CPACK_COMPONENTS_ALL})
  string(TOUPPER ${component} name)
  set(root ${CPACK_TEMPORARY_INSTALL_DIRECTORY}/${component})
  set(share ${root}${CPACK_PACKAGING_INSTALL_PREFIX}/share)
  configure_file(${CPACK_RESOURCE_FILE_LICENSE} ${share}/doc/${CPACK_DEBIAN_${name}_PACKAGE_NAME}/copyright COPYONLY)
  file(GLOB pages ${share}/man/man1/*.1)
  if(pages)
    execute_process(COMMAND gzip -9nf ${pages} COMMAND_ERROR_IS_FATAL ANY)
  endif()
  file(GLOB_RECURSE paths LIST_DIRECTORIES true ${root}/*)
  foreach(path IN LISTS paths)
    if(IS_DIRECTORY ${path} AND NOT IS_SYMLINK ${path})
      file(CHMOD ${path} PERMISSIONS
        OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
    endif()
  endforeach()
endforeach()
