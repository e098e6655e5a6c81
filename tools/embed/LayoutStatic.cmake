# Layout::Static, for compilers that link MLIR's static libraries: libLayout.a, and the libraries that it uses. A target of
# CMake's links them through Layout::Static, and its other ones of MLIR beside it.
function(layout_static archive include)
  if(TARGET Layout::Static)
    return()
  endif()
  add_library(Layout::Static STATIC IMPORTED GLOBAL)
  # A program has one of Layout::Static and Layout::Shared: CMake compares what targets say of this property.
  set_target_properties(Layout::Static PROPERTIES
    IMPORTED_LOCATION ${archive}
    IMPORTED_LINK_INTERFACE_LANGUAGES CXX
    INTERFACE_LAYOUT_LINKAGE static COMPATIBLE_INTERFACE_STRING LAYOUT_LINKAGE)
  target_compile_features(Layout::Static INTERFACE cxx_std_17)
  target_include_directories(Layout::Static INTERFACE ${include})
  target_include_directories(Layout::Static SYSTEM INTERFACE ${MLIR_INCLUDE_DIRS} ${LLVM_INCLUDE_DIRS})
  target_link_libraries(Layout::Static INTERFACE
    MLIRAffineDialect MLIRAffineToStandard MLIRArithDialect MLIRArithTransforms MLIRBufferizationDialect
    MLIRBufferizationToMemRef MLIRBufferizationTransforms MLIRCAPIIR MLIRCAPILinalg MLIRComplexDialect
    MLIRComplexToStandard MLIRControlFlowDialect MLIRConvertToLLVMPass MLIRDLTIDialect MLIRFuncDialect MLIRIR
    MLIRInferIntRangeInterface MLIRLLVMDialect MLIRLinalgDialect MLIRLinalgTransforms MLIRMPIDialect MLIRMathDialect
    MLIRMathToLLVM MLIRMathToLibm MLIRMathTransforms MLIRMemRefDialect MLIRMemRefTransforms MLIRPass
    MLIRReconcileUnrealizedCasts MLIRRewrite MLIRSCFDialect MLIRSCFToControlFlow MLIRSCFToOpenMP MLIRSCFTransforms
    MLIRShardDialect MLIRSupport MLIRTensorDialect MLIRTransformUtils MLIRTransforms MLIRVectorDialect
    MLIRVectorToLLVMPass MLIRVectorToSCF ${CMAKE_DL_LIBS})
endfunction()
