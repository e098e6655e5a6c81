// layout-plan-memory: modules in which memory of a kind cannot be.
// RUN: layout-opt %s --split-input-file --verify-diagnostics --layout-plan-memory=arena=argument

func.func @inner() {
  return
}
func.func @outer() {
  // expected-error @below {{with arena=argument, `inner` has an argument that this call does not give: call a private function}}
  call @inner() : () -> ()
  return
}
