// Functions that are no models of their operations.
// RUN: layout-opt %s --split-input-file --allow-unregistered-dialect --verify-diagnostics --layout-expand-operations

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
  // expected-error@+1 {{'mini.forever' op has a model that is more than 4 models deep}}
  %y = "mini.forever"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}
