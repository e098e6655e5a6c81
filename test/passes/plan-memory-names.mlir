// layout-plan-memory=arena=kept calls functions of C's library.
// RUN: layout-opt %s --verify-diagnostics --layout-plan-memory=arena=kept

// expected-error @below {{with arena=kept, `free` is that of C's library; give this another name}}
func.func private @free(%x: f32) -> f32 {
  return %x : f32
}
