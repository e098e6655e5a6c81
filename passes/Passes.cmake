# The C++ of the passes, after layout.cmake and the headers of the dialect.
set(layout_passes ${CMAKE_CURRENT_LIST_DIR})
layout_share(${layout_passes} passes Glue.h Passes.h)
foreach(file LayoutOpInterface.h LayoutOpInterface.td)
  configure_file(${layout_passes}/${file} ${layout_include}/layout/${file} COPYONLY)
endforeach()

set(LLVM_TARGET_DEFINITIONS ${layout_passes}/Passes.td)
mlir_tablegen(include/layout/Choices.h.inc -gen-enum-decls)
mlir_tablegen(include/layout/Choices.cpp.inc -gen-enum-defs)
mlir_tablegen(include/layout/Passes.h.inc -gen-pass-decls -name Layout)
set(LLVM_TARGET_DEFINITIONS ${layout_passes}/LayoutOpInterface.td)
mlir_tablegen(include/layout/LayoutOpInterface.h.inc -gen-op-interface-decls)
mlir_tablegen(include/layout/LayoutOpInterface.cpp.inc -gen-op-interface-defs)
add_public_tablegen_target(layout_passes_tablegen)

# Cargo builds this: the build script writes the classes of the passes, Passes.cpp.inc.
add_library(layout_passes_glue STATIC EXCLUDE_FROM_ALL ${layout_passes}/Passes.cpp ${layout_passes}/Glue.cpp
  ${layout_passes}/LayoutOpInterface.cpp)
add_dependencies(layout_passes_glue layout_passes_tablegen)
