// layout-opt --layout-mask-as-integers
llvm.func @load(%from: !llvm.ptr, %mask: vector<8xi1>, %else: vector<8xbf16>) -> vector<8xbf16> {
  %x = llvm.intr.masked.load %from, %mask, %else {alignment = 2 : i32} : (!llvm.ptr, vector<8xi1>, vector<8xbf16>) -> vector<8xbf16>
  llvm.return %x : vector<8xbf16>
}
