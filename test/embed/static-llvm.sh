#!/bin/sh
# Makes the folder OUTPUT look like a build tree of the LLVM in PREFIX that was configured without shared libraries, of links.
#
#   static-llvm.sh PREFIX OUTPUT
set -eu
llvm=$1 tree=$2
rm -rf "$tree"
mkdir -p "$tree/bin" "$tree/lib" "$tree/source/mlir" "$tree/source/llvm" "$tree/tools/mlir"
ln -s "$llvm"/bin/* "$tree/bin"
ln -s "$llvm"/lib/*.a "$llvm"/lib/*.so* "$tree/lib"
rm "$tree"/lib/libMLIR.so* "$tree"/lib/libLLVM*.so*

# Headers are in four folders: those of the source of each project, and those that are generated.
headers() {
  source=$tree/source/$1/include generated=$2
  mkdir -p "$source" "$generated"
  for folder in "$1" "$1-c"; do
    cp -rsL "$llvm/include/$folder" "$source"
    cp -rsL "$llvm/include/$folder" "$generated"
  done
  find "$source" -type l '(' -name '*.inc' -o -path '*/llvm/Config/*' ')' -delete
  find "$generated" -type l ! -name '*.inc' ! -path '*/llvm/Config/*' -delete
}
headers llvm "$tree/include"
headers mlir "$tree/tools/mlir/include"

# CMake's files, where libLLVM.so stands for the archives and libMLIR.so for nothing. A few of Debian's archives need other
# libraries, which are not installed.
mkdir "$tree/lib/cmake"
cp -rL "$llvm/lib/cmake/llvm" "$llvm/lib/cmake/mlir" "$tree/lib/cmake"
libraries=$(sed -n 's/^set(LLVM_AVAILABLE_LIBS \(.*\))$/\1/p' "$llvm/lib/cmake/llvm/LLVMConfig.cmake" |
  tr ';' '\n' | grep '^LLVM.' | grep -v -e BOLT -e Debuginfod -e Exegesis -e LineEditor | tr '\n' ';')
sed -i "s|^set(LLVM_INCLUDE_DIRS .*|set(LLVM_INCLUDE_DIRS $tree/source/llvm/include $tree/include)|" \
  "$tree/lib/cmake/llvm/LLVMConfig.cmake"
sed -i "s|^set(MLIR_INCLUDE_DIRS .*|set(MLIR_INCLUDE_DIRS $tree/source/mlir/include $tree/tools/mlir/include)|" \
  "$tree/lib/cmake/mlir/MLIRConfig.cmake"
sed -i "s|^add_library(LLVM SHARED IMPORTED)|add_library(LLVM INTERFACE IMPORTED)\\
set_target_properties(LLVM PROPERTIES INTERFACE_LINK_LIBRARIES \"$libraries\")|" "$tree/lib/cmake/llvm/LLVMExports.cmake"
sed -i "/^add_library(MLIR SHARED IMPORTED)/d; s|\${_IMPORT_PREFIX}/include|$tree/source/mlir/include|" \
  "$tree/lib/cmake/mlir/MLIRTargets.cmake"
for name in LLVM MLIR; do
  sed -i "/TARGET $name APPEND/,/^ *)/d; /set_target_properties($name PROPERTIES/,/^ *)/d; /lib$name.so/d" \
    "$tree"/lib/cmake/*/*-*.cmake
done

# A program that knows no shared libraries.
rm "$tree/bin/llvm-config"
cat >"$tree/bin/llvm-config" <<END
#!/bin/sh
case "\$*" in
  *--link-shared*--libnames*) echo 'llvm-config: error: libLLVM-22.so is missing' >&2; exit 1 ;;
  *--includedir) echo $tree/source/llvm/include ;;
  *) $llvm/bin/llvm-config "\$@" | sed 's|-I$llvm/include|-I$tree/source/llvm/include -I$tree/include|; s|$llvm|$tree|g' ;;
esac
END
chmod +x "$tree/bin/llvm-config"
