// Functions that are no models of their operations.
// RUN: layout-opt %s --split-input-file --allow-unregistered-dialect --verify-diagnostics --layout-expand-operations
// RUN: layout-opt %s --split-input-file --allow-unregistered-dialect --verify-diagnostics \
// RUN:   --layout-verify=passes=layout-expand-operations
// RUN: layout-opt %s --split-input-file --allow-unregistered-dialect --verify-diagnostics --layout-indexing-analysis

// expected-error@+1 {{`layout.model` must be the name of an operation, such as "mini.product", found 3 : i32}}
func.func private @f() attributes {layout.model = 3 : i32}

// -----

// expected-error@+1 {{`layout.model` must be on a func.func, found it on 'builtin.module'}}
module attributes {layout.model = "mini.product"} {}

// -----

// expected-error@+1 {{`layout.cost` must be an i64 of at least 0, such as 32 : i64, found -1 : i64}}
func.func private @f() attributes {layout.cost = -1 : i64}

// -----

func.func private @forever(%x: tensor<4xf32>) -> tensor<4xf32> attributes {layout.model = "mini.forever"} {
  // expected-error@+1 {{'mini.forever' op has a model that is made of this operation itself}}
  %y = "mini.forever"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

// Twice the operation itself: nothing is expanded before it is found.
func.func private @twice(%x: tensor<4xf32>) -> tensor<4xf32> attributes {layout.model = "mini.twice"} {
  // expected-error@+1 {{'mini.twice' op has a model that is made of this operation itself}}
  %y = "mini.twice"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %z = "mini.twice"(%y) : (tensor<4xf32>) -> tensor<4xf32>
  return %z : tensor<4xf32>
}

// -----

func.func private @one(%x: tensor<4xf32>) -> tensor<4xf32> attributes {layout.model = "mini.one"} {
  // expected-error@+1 {{'mini.other' op has a model that is made of this operation itself}}
  %y = "mini.other"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}
func.func private @other(%x: tensor<4xf32>) -> tensor<4xf32> attributes {layout.model = "mini.other"} {
  %y = "mini.one"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %z = "mini.one"(%y) : (tensor<4xf32>) -> tensor<4xf32>
  return %z : tensor<4xf32>
}

// -----

func.func private @m0(%x: tensor<4xf32>) -> tensor<4xf32> attributes {layout.model = "mini.m0"} {
  return %x : tensor<4xf32>
}
func.func private @m1(%x: tensor<4xf32>) -> tensor<4xf32> attributes {layout.model = "mini.m1"} {
  %y = "mini.m0"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}
func.func private @m2(%x: tensor<4xf32>) -> tensor<4xf32> attributes {layout.model = "mini.m2"} {
  %y = "mini.m1"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}
func.func private @m3(%x: tensor<4xf32>) -> tensor<4xf32> attributes {layout.model = "mini.m3"} {
  %y = "mini.m2"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}
func.func private @m4(%x: tensor<4xf32>) -> tensor<4xf32> attributes {layout.model = "mini.m4"} {
  %y = "mini.m3"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}
func.func private @m5(%x: tensor<4xf32>) -> tensor<4xf32> attributes {layout.model = "mini.m5"} {
  %y = "mini.m4"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{'mini.m0' op has a model that is more than 4 models deep}}
  %y = "mini.m5"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

func.func private @first(%x: tensor<4xf32>) -> tensor<4xf32> attributes {layout.model = "mini.x"} {
  return %x : tensor<4xf32>
}
// expected-error@+1 {{'func.func' op is a second model of 'mini.x' for the same types}}
func.func private @second(%x: tensor<4xf32>) -> tensor<4xf32> attributes {layout.model = "mini.x"} {
  return %x : tensor<4xf32>
}

// -----

func.func private @blocks(%x: tensor<4xf32>) -> tensor<4xf32> attributes {layout.model = "mini.x"} {
  cf.br ^end
^end:
  return %x : tensor<4xf32>
}
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{'mini.x' op has a model of 2 blocks, expected one block}}
  %y = "mini.x"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

func.func private @m(%x: tensor<4xf32>) -> tensor<4xf32> attributes {layout.model = "mini.region"} {
  return %x : tensor<4xf32>
}
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{'mini.region' op has a model, so it must have no regions or successors, must not end its block, and must not be a constant or of the dialects builtin, func, layout and llvm; found regions: 1}}
  %y = "mini.region"(%x) ({
    "mini.end"(%x) : (tensor<4xf32>) -> ()
  }) : (tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

func.func private @m(%x: tensor<4xf32>) attributes {layout.model = "mini.branch"} {
  return
}
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{found successors: 1}}
  "mini.branch"(%x)[^end] : (tensor<4xf32>) -> ()
^end:
  return %x : tensor<4xf32>
}

// -----

func.func private @m(%x: tensor<4xf32>) attributes {layout.model = "scf.yield"} {
  return
}
func.func @main(%x: tensor<4xf32>, %c: i1) -> tensor<4xf32> {
  %y = scf.if %c -> tensor<4xf32> {
    // expected-error@+1 {{found it at the end of its block}}
    scf.yield %x : tensor<4xf32>
  } else {
    // expected-error@+1 {{found it at the end of its block}}
    scf.yield %x : tensor<4xf32>
  }
  return %y : tensor<4xf32>
}

// -----

// expected-error@+1 {{`layout.model` must be the name of an operation that can have a model, found "builtin.module"}}
func.func private @m() attributes {layout.model = "builtin.module"}

// -----

// expected-error@+1 {{`layout.model` must be the name of an operation that can have a model, found "func.call"}}
func.func private @m() attributes {layout.model = "func.call"}

// -----

// expected-error@+1 {{`layout.model` must be the name of an operation that can have a model, found "func.return"}}
func.func private @m() attributes {layout.model = "func.return"}

// -----

// expected-error@+1 {{`layout.model` must be the name of an operation that can have a model, found "llvm.return"}}
func.func private @m() attributes {layout.model = "llvm.return"}

// -----

// expected-error@+1 {{`layout.model` must be the name of an operation that can have a model, found "layout.convert"}}
func.func private @m() attributes {layout.model = "layout.convert"}

// -----

// expected-error@+1 {{`layout.model` must be the name of an operation that can have a model, found "arith.constant"}}
func.func private @m() attributes {layout.model = "arith.constant"}
