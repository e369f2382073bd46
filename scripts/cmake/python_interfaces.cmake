# Included after project() of every interface package that `make setup` builds into .venv: generate for C and Python alone.
# Our nodes are Python; leaving out the C++ type support halves the build. colcon on a robot does not use this file.
find_package(ament_cmake_core QUIET REQUIRED)

macro(ament_register_extension extension_point package_name cmake_filename)
  if(NOT ("${extension_point}" STREQUAL "rosidl_generate_idl_interfaces" AND "${package_name}" MATCHES "_cpp$"))
    list(APPEND AMENT_EXTENSIONS_${extension_point} "${package_name}:${cmake_filename}")
  endif()
endmacro()
