# The C++ of the tools, after layout.cmake.
add_library(layout_opt_glue STATIC EXCLUDE_FROM_ALL ${CMAKE_CURRENT_LIST_DIR}/Foreign.cpp
  ${CMAKE_CURRENT_LIST_DIR}/Opt.cpp)
