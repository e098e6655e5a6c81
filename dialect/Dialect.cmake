# The C++ of the dialect, after layout.cmake.
set(layout_dialect ${CMAKE_CURRENT_LIST_DIR})
layout_share(${layout_dialect} dialect Glue.h Layout.h)

set(LLVM_TARGET_DEFINITIONS ${layout_dialect}/Layout.td)
mlir_tablegen(include/layout/LayoutDialect.h.inc -gen-dialect-decls -dialect=layout)
mlir_tablegen(include/layout/LayoutDialect.cpp.inc -gen-dialect-defs -dialect=layout)
mlir_tablegen(include/layout/LayoutAttributes.h.inc -gen-attrdef-decls -attrdefs-dialect=layout)
mlir_tablegen(include/layout/LayoutAttributes.cpp.inc -gen-attrdef-defs -attrdefs-dialect=layout)
mlir_tablegen(include/layout/LayoutOps.h.inc -gen-op-decls)
mlir_tablegen(include/layout/LayoutOps.cpp.inc -gen-op-defs)
add_public_tablegen_target(layout_dialect_tablegen)

add_library(layout_dialect_glue STATIC EXCLUDE_FROM_ALL ${layout_dialect}/Layout.cpp)
add_dependencies(layout_dialect_glue layout_dialect_tablegen)
