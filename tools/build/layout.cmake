# What the C++ of all packages has in common: MLIR, the flags, the folders of headers.
#
# LAYOUT_INCLUDE: folders with headers of other packages.
find_package(MLIR REQUIRED CONFIG)
list(APPEND CMAKE_MODULE_PATH ${MLIR_CMAKE_DIR} ${LLVM_CMAKE_DIR})
include(TableGen)
include(AddLLVM)
include(AddMLIR)

set(CMAKE_CXX_STANDARD 17)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
# What is installed, in the folders that it is installed in.
set(layout_include ${PROJECT_BINARY_DIR}/include)
# What the packages include of each other, in a folder for each package.
set(layout_headers ${PROJECT_BINARY_DIR}/headers)
include_directories(${layout_headers} ${layout_include} ${layout_include}/layout ${LAYOUT_INCLUDE})
include_directories(SYSTEM ${MLIR_INCLUDE_DIRS} ${LLVM_INCLUDE_DIRS})
add_compile_options(-O2 -fno-exceptions -Wall -Wextra -Wno-unused-parameter)
# The types of LLVM's classes at run time, where its libraries have them.
if(NOT LLVM_ENABLE_RTTI)
  add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-fno-rtti>)
endif()
# For the C++ of this project alone. MLIR's headers are the same with and without it, but for the statistics of passes,
# which no pass here has.
add_compile_definitions(NDEBUG ${LLVM_DEFINITIONS_LIST})

# Makes headers of a folder known to the other packages, under the folder's name.
function(layout_share folder name)
  foreach(header ${ARGN})
    configure_file(${folder}/${header} ${layout_headers}/${name}/${header} COPYONLY)
  endforeach()
endfunction()
