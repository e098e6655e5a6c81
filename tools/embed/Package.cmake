# libLayout.so, the plugin, libLayout.a, and how they are installed. Cargo builds all of Rust, and the C++ glue with it, into
# one archive. libLayout.so is that archive linked whole, with MLIR's C API, which Debian has in archives only; libLayout.a is
# what a static compiler can use of it.
include(CMakePackageConfigHelpers)
include(GNUInstallDirs)

set(layout_profile $ENV{LAYOUT_CARGO_PROFILE})
if(NOT layout_profile)
  set(layout_profile release)
endif()
set(LAYOUT_CARGO_PROFILE ${layout_profile} CACHE STRING "The profile that Cargo builds in")
set(layout_target $ENV{CARGO_TARGET_DIR})
if(NOT layout_target)
  set(layout_target ${PROJECT_BINARY_DIR}/cargo)
endif()
set(LAYOUT_CARGO_TARGET_DIR ${layout_target} CACHE PATH "The folder that Cargo builds in")
set(LAYOUT_FEATURES default CACHE STRING "What lowering does not need: `distribute`, `plan`, `vectorize`, `verify`; `default` is all")
string(REPLACE ";" "," layout_features "${LAYOUT_FEATURES}")
find_program(LAYOUT_CARGO cargo HINTS $ENV{HOME}/.cargo/bin)
if(NOT LAYOUT_CARGO)
  message(FATAL_ERROR "Layout: there is no cargo on the PATH, which building the library needs")
endif()

# Build scripts ask the llvm-config below a prefix for shared libraries and for one folder of headers, which an LLVM without
# libMLIR.so and a build tree lack. An archive links nothing, so another llvm-config may answer.
get_filename_component(layout_libraries ${LLVM_LIBRARY_DIR} REALPATH)
get_filename_component(layout_libraries_of_cargo ${layout_prefix}/lib REALPATH)
set(layout_environment)
if(NOT TARGET MLIR OR NOT layout_libraries STREQUAL layout_libraries_of_cargo)
  find_path(layout_mlir_c mlir-c/IR.h PATHS ${MLIR_INCLUDE_DIRS} NO_DEFAULT_PATH REQUIRED)
  configure_file(tools/embed/llvm-config.in ${PROJECT_BINARY_DIR}/llvm/bin/llvm-config @ONLY USE_SOURCE_PERMISSIONS)
  list(JOIN MLIR_INCLUDE_DIRS ":" layout_mlir_headers)
  list(JOIN LLVM_INCLUDE_DIRS ":" layout_llvm_headers)
  set(layout_environment ${CMAKE_COMMAND} -E env ${layout_variable}=${PROJECT_BINARY_DIR}/llvm
    TABLEGEN_${layout_llvm}0_PREFIX=${PROJECT_BINARY_DIR}/llvm CPATH=${layout_mlir_headers}:${layout_llvm_headers})
endif()

string(REGEX REPLACE "^dev$" "debug" layout_profile_folder ${LAYOUT_CARGO_PROFILE})
set(layout_rust ${PROJECT_BINARY_DIR}/liblayout_embed.a)
# Cargo knows better than CMake what is out of date, so it always runs. Builds of the workspace put an archive of other
# features in the same place, so the library is linked from a copy, which only changes with its content.
add_custom_target(layout_rust
  COMMAND ${layout_environment} ${LAYOUT_CARGO} build --quiet --package layout-embed --lib
          --no-default-features --features "${layout_features}"
          --profile ${LAYOUT_CARGO_PROFILE} --target-dir ${LAYOUT_CARGO_TARGET_DIR}
  COMMAND ${CMAKE_COMMAND} -E copy_if_different
          ${LAYOUT_CARGO_TARGET_DIR}/${layout_profile_folder}/liblayout_embed.a ${layout_rust}
  WORKING_DIRECTORY ${PROJECT_SOURCE_DIR}
  BYPRODUCTS ${layout_rust}
  COMMENT "Building layout-embed with Cargo"
  USES_TERMINAL VERBATIM)

foreach(header dialect/Layout.h passes/Passes.h)
  get_filename_component(name ${header} NAME)
  configure_file(${header} ${layout_include}/layout/${name} COPYONLY)
endforeach()
foreach(header Layout.h Passes.h)
  configure_file(layout-c/${header} ${layout_include}/layout-c/${header} COPYONLY)
endforeach()

# The handle of the dialect, which is C++ that no package of Cargo's has.
add_library(layout_handle OBJECT tools/embed/Embed.cpp)
add_dependencies(layout_handle layout_dialect_tablegen layout_passes_tablegen)

set(layout_exports ${PROJECT_SOURCE_DIR}/tools/embed/exports.map)
set(layout_archive ${PROJECT_BINARY_DIR}/libLayout.a)
set(layout_join ${PROJECT_SOURCE_DIR}/tools/embed/join.sh)
find_program(LAYOUT_LD NAMES ld.bfd ld REQUIRED)
add_custom_command(OUTPUT ${layout_archive}
  COMMAND ${layout_join} ${LAYOUT_LD} ${CMAKE_NM} ${CMAKE_OBJCOPY} ${CMAKE_AR} ${layout_exports} ${layout_archive}
          $<TARGET_OBJECTS:layout_handle> ${layout_rust}
  DEPENDS ${layout_join} ${layout_exports} $<TARGET_OBJECTS:layout_handle> ${layout_rust}
  COMMENT "Joining libLayout.a"
  COMMAND_EXPAND_LISTS VERBATIM)
add_custom_target(layout_archive ALL DEPENDS ${layout_archive})
add_dependencies(layout_archive layout_rust)
include(tools/embed/LayoutStatic.cmake)
layout_static(${layout_archive} ${layout_include})
add_dependencies(Layout::Static layout_archive)

# For mlir-tblgen, which knows no targets.
set(LAYOUT_INCLUDE_DIRS ${layout_include} CACHE INTERNAL "The folder of the headers")

set(layout_cmake ${CMAKE_INSTALL_LIBDIR}/cmake/Layout)
install(FILES ${layout_archive} DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY ${layout_include}/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
  FILES_MATCHING PATTERN "*.h" PATTERN "*.h.inc" PATTERN "*.td")
configure_package_config_file(tools/embed/LayoutConfig.cmake.in ${PROJECT_BINARY_DIR}/LayoutConfig.cmake
  INSTALL_DESTINATION ${layout_cmake} PATH_VARS CMAKE_INSTALL_LIBDIR CMAKE_INSTALL_INCLUDEDIR)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/LayoutConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/LayoutConfig.cmake ${PROJECT_BINARY_DIR}/LayoutConfigVersion.cmake
  tools/embed/LayoutStatic.cmake DESTINATION ${layout_cmake})

# The shared library and the plugin use libMLIR.so.
if(NOT TARGET MLIR)
  return()
endif()
file(GLOB layout_mlir_capi ${LLVM_LIBRARY_DIR}/libMLIRCAPI*.a)
list(JOIN layout_mlir_capi "," layout_mlir_capi)
add_library(Layout SHARED $<TARGET_OBJECTS:layout_handle>)
add_library(Layout::Layout ALIAS Layout)
add_library(Layout::Shared ALIAS Layout)
add_dependencies(Layout layout_rust)
target_compile_features(Layout PUBLIC cxx_std_17)
target_include_directories(Layout INTERFACE
  $<BUILD_INTERFACE:${layout_include}> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
target_include_directories(Layout SYSTEM INTERFACE
  "$<BUILD_INTERFACE:${MLIR_INCLUDE_DIRS}>" "$<BUILD_INTERFACE:${LLVM_INCLUDE_DIRS}>")
target_link_options(Layout PRIVATE
  -Wl,--version-script=${layout_exports} -Wl,-z,defs -Wl,--gc-sections -Wl,--strip-debug
  "-Wl,--whole-archive,${layout_rust},${layout_mlir_capi},--no-whole-archive")
target_link_libraries(Layout PUBLIC MLIR LLVM)
set_target_properties(Layout PROPERTIES
  VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR}
  INTERFACE_LAYOUT_LINKAGE shared COMPATIBLE_INTERFACE_STRING LAYOUT_LINKAGE
  LINK_DEPENDS "${layout_rust};${layout_exports}"
  INSTALL_RPATH "$ORIGIN;${LLVM_LIBRARY_DIR}")

# The plugin has nothing of its own, so a compiler that links libLayout.so and loads it has one dialect.
add_library(LayoutPlugin MODULE tools/embed/Plugin.cpp)
add_library(Layout::Plugin ALIAS LayoutPlugin)
target_compile_definitions(LayoutPlugin PRIVATE LAYOUT_VERSION="${PROJECT_VERSION}")
target_link_libraries(LayoutPlugin PRIVATE Layout)
set_target_properties(LayoutPlugin PROPERTIES
  EXPORT_NAME Plugin
  INSTALL_RPATH "$ORIGIN;${LLVM_LIBRARY_DIR}")

install(TARGETS Layout LayoutPlugin EXPORT LayoutTargets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(EXPORT LayoutTargets NAMESPACE Layout:: DESTINATION ${layout_cmake})
