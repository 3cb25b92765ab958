# assay_add_entry_points(<operator>): adds the functions of both phases that the header of the operator declares. Phase 1
# passes its arguments under their documented names to the operator's `phase_1_of`. An entry point with a second phase 1,
# GetMaxWorkspaceSize, gets the same function under both names.
function(assay_add_entry_points operator)
  set(header aclnnop/aclnn_${operator}.h)
  set(path ${PROJECT_SOURCE_DIR}/optimized/aclnn/include/${header})
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${path})
  file(READ ${path} text)
  string(REGEX MATCHALL "aclnn[A-Za-z0-9]+Get(Max)?WorkspaceSize\\([^)]*" prototypes "${text}")
  if(NOT prototypes)
    message(FATAL_ERROR "${path} declares no phase 1")
  endif()
  assay_type_name(${operator} type)
  set(entry_points "")
  foreach(prototype IN LISTS prototypes)
    string(REGEX MATCH "^(.*)(Get|GetMax)WorkspaceSize\\((.*),[^,]*workspaceSize,[^,]*executor$" matched "${prototype}")
    if(NOT matched)
      message(FATAL_ERROR "${path}: the last parameters are not workspaceSize and executor: ${prototype}")
    endif()
    set(function ${CMAKE_MATCH_1})
    set(phase_1 ${CMAKE_MATCH_1}${CMAKE_MATCH_2}WorkspaceSize)
    set(parameters "${CMAKE_MATCH_3}")
    string(REGEX REPLACE "[^,]*[ *]([A-Za-z0-9]+)(,|$)" "{\"\\1\", \\1}\\2 " arguments "${parameters}")
    string(APPEND entry_points "
aclnnStatus ${phase_1}(${parameters}, uint64_t* workspaceSize, aclOpExecutor** executor) {
  return phase_1_of<assay::spec::${type}>(
      {\"${phase_1}\", \"${function}\", workspaceSize, executor}, {${arguments}});
}
")
    if(phase_1 MATCHES "GetMaxWorkspaceSize$")
      continue()
    endif()
    string(APPEND entry_points "
aclnnStatus ${function}(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor, const aclrtStream stream) {
  return phase_2({\"${function}\", workspace, workspaceSize, executor, stream});
}
")
  endforeach()
  set(generated ${PROJECT_BINARY_DIR}/optimized/aclnn/entries/${operator}.cpp)
  configure_file(${PROJECT_SOURCE_DIR}/optimized/aclnn/entries/entry_points.cpp.in ${generated} @ONLY)
  target_sources(assay_aclnn PRIVATE ${generated})
endfunction()
