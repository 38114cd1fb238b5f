# Makes manual pages of the programs from their --help, so that there is one text for both. They are left out
# without Python, and in builds with sanitizers, which print more than the help.

find_package(Python3 QUIET COMPONENTS Interpreter)
set(cgx_manual_page ${CMAKE_CURRENT_LIST_DIR}/manual_page.py)

set(cgx_page_cgx "one command for all tools of cgx")
set(cgx_page_cgx-run "train or evaluate a training step on several ranks")
set(cgx_page_cgx-bench "how fast codecs and collectives are, and would be")
set(cgx_page_cgx-plan "decide which codec compresses which layer")
set(cgx_page_cgx-curves "compare training runs by their reports")
set(cgx_page_cgx-opt "compress the collectives of exported training steps")
set(cgx_page_cgx-compile "compile a training step ahead of time")

# cgx_manual(COMPONENT PROGRAM...): a page for each of the programs, installed with that component.
function(cgx_manual component)
  if(NOT Python3_Interpreter_FOUND OR CGX_SANITIZE)
    return()
  endif()
  set(pages)
  foreach(program ${ARGN})
    if(NOT DEFINED cgx_page_${program})
      message(FATAL_ERROR "cmake/CgxManual.cmake: no line about ${program}")
    endif()
    set(page ${CMAKE_BINARY_DIR}/man/${program}.1)
    add_custom_command(OUTPUT ${page} DEPENDS ${program} ${cgx_manual_page}
      COMMAND ${CMAKE_COMMAND} -E make_directory ${CMAKE_BINARY_DIR}/man
      COMMAND ${Python3_EXECUTABLE} -B ${cgx_manual_page} --name ${program} --summary ${cgx_page_${program}}
        --version ${PROJECT_VERSION} --output ${page} $<TARGET_FILE:${program}>
      COMMENT "Manual page ${program}.1" VERBATIM)
    list(APPEND pages ${page})
  endforeach()
  add_custom_target(cgx_manual_${component} ALL DEPENDS ${pages})
  install(FILES ${pages} DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT ${component})
endfunction()
