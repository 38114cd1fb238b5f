# Makes the missing ones of the prefix's folders cgx_folders, readable by all users. install() makes folders
# with modes by the umask of whoever installs, and 077 would exclude all others.
foreach(folder IN LISTS cgx_folders)
  cmake_path(ABSOLUTE_PATH folder BASE_DIRECTORY "${CMAKE_INSTALL_PREFIX}" NORMALIZE)
  get_filename_component(folder "$ENV{DESTDIR}${folder}" ABSOLUTE)
  set(missing)
  while(NOT EXISTS "${folder}")
    list(PREPEND missing "${folder}")
    cmake_path(GET folder PARENT_PATH folder)
  endwhile()
  foreach(one IN LISTS missing)
    file(MAKE_DIRECTORY "${one}")
    file(CHMOD "${one}" PERMISSIONS
      OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
  endforeach()
endforeach()
