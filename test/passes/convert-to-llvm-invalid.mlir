// layout-convert-to-llvm: the bits of index are those of the module's data layout, or an error.
// RUN: layout-opt %s --split-input-file --layout-convert-to-llvm --verify-diagnostics -o /dev/null

// expected-error @below {{expected 64 bits for index in the data layout, found 32: convert-to-llvm makes i64 of index}}
module attributes {dlti.dl_spec = #dlti.dl_spec<index = 32 : i32>} {
  func.func @narrow(%i: index) -> index {
    return %i : index
  }
}

// -----

module attributes {dlti.dl_spec = #dlti.dl_spec<index = 64 : i32, i128 = dense<128> : vector<2xi64>>} {
  func.func @same(%i: index) -> index {
    return %i : index
  }
}

// -----

module {
  // expected-error @below {{expected 64 bits for index in the data layout, found 32}}
  module attributes {dlti.dl_spec = #dlti.dl_spec<index = 32 : i32>} {
    func.func @inside(%i: index) -> index {
      return %i : index
    }
  }
}
