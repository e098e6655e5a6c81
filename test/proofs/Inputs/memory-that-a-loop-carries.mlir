func.func @f(%x: memref<3x2xf32>, %w: memref<2x2xf32>, %y: memref<2xf32>, %z: memref<2xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %h0 = arith.constant dense<0.0> : tensor<2xf32>
  %r:2 = scf.for %t = %c0 to %c3 step %c1 iter_args(%h = %h0, %c = %h0) -> (tensor<2xf32>, tensor<2xf32>) {
    %g = tensor.generate {
    ^bb0(%i: index):
      %e = memref.load %x[%t, %i] : memref<3x2xf32>
      %s = scf.for %k = %c0 to %c2 step %c1 iter_args(%a = %e) -> (f32) {
        %u = tensor.extract %h[%k] : tensor<2xf32>
        %v = memref.load %w[%k, %i] : memref<2x2xf32>
        %p = arith.mulf %u, %v : f32
        %q = arith.addf %a, %p : f32
        scf.yield %q : f32
      }
      %d = tensor.extract %c[%i] : tensor<2xf32>
      %o = arith.addf %s, %d : f32
      tensor.yield %o : f32
    } : tensor<2xf32>
    %n = tensor.generate {
    ^bb0(%i: index):
      %a = tensor.extract %g[%i] : tensor<2xf32>
      %b = tensor.extract %h[%i] : tensor<2xf32>
      %o = arith.mulf %a, %b : f32
      %q = arith.addf %o, %one : f32
      tensor.yield %q : f32
    } : tensor<2xf32>
    scf.yield %n, %g : tensor<2xf32>, tensor<2xf32>
  }
  scf.for %i = %c0 to %c2 step %c1 {
    %a = tensor.extract %r#0[%i] : tensor<2xf32>
    memref.store %a, %y[%i] : memref<2xf32>
    %b = tensor.extract %r#1[%i] : tensor<2xf32>
    memref.store %b, %z[%i] : memref<2xf32>
  }
  return
}
// -----
// same: proved
func.func @f(%x: memref<3x2xf32>, %w: memref<2x2xf32>, %y: memref<2xf32>, %z: memref<2xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %h0 = memref.alloc() : memref<2xf32>
  %c_0 = memref.alloc() : memref<2xf32>
  scf.for %i = %c0 to %c2 step %c1 {
    memref.store %zero, %h0[%i] : memref<2xf32>
    memref.store %zero, %c_0[%i] : memref<2xf32>
  }
  %r:2 = scf.for %t = %c0 to %c3 step %c1 iter_args(%h = %h0, %c = %c_0) -> (memref<2xf32>, memref<2xf32>) {
    %g = memref.alloc() : memref<2xf32>
    scf.for %i = %c0 to %c2 step %c1 {
      %e = memref.load %x[%t, %i] : memref<3x2xf32>
      %s = scf.for %k = %c0 to %c2 step %c1 iter_args(%a = %e) -> (f32) {
        %u = memref.load %h[%k] : memref<2xf32>
        %v = memref.load %w[%k, %i] : memref<2x2xf32>
        %p = arith.mulf %u, %v : f32
        %q = arith.addf %a, %p : f32
        scf.yield %q : f32
      }
      %d = memref.load %c[%i] : memref<2xf32>
      %o = arith.addf %s, %d : f32
      memref.store %o, %g[%i] : memref<2xf32>
    }
    memref.dealloc %c : memref<2xf32>
    %n = memref.alloc() : memref<2xf32>
    scf.for %i = %c0 to %c2 step %c1 {
      %a = memref.load %g[%i] : memref<2xf32>
      %b = memref.load %h[%i] : memref<2xf32>
      %o = arith.mulf %a, %b : f32
      %q = arith.addf %o, %one : f32
      memref.store %q, %n[%i] : memref<2xf32>
    }
    memref.dealloc %h : memref<2xf32>
    scf.yield %n, %g : memref<2xf32>, memref<2xf32>
  }
  memref.copy %r#0, %y : memref<2xf32> to memref<2xf32>
  memref.copy %r#1, %z : memref<2xf32> to memref<2xf32>
  memref.dealloc %r#0 : memref<2xf32>
  memref.dealloc %r#1 : memref<2xf32>
  return
}
// -----
// error
func.func @f(%x: memref<3x2xf32>, %w: memref<2x2xf32>, %y: memref<2xf32>, %z: memref<2xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %h0 = memref.alloc() : memref<2xf32>
  %c_0 = memref.alloc() : memref<2xf32>
  scf.for %i = %c0 to %c2 step %c1 {
    memref.store %zero, %h0[%i] : memref<2xf32>
    memref.store %zero, %c_0[%i] : memref<2xf32>
  }
  %r:2 = scf.for %t = %c1 to %c3 step %c1 iter_args(%h = %h0, %c = %c_0) -> (memref<2xf32>, memref<2xf32>) {
    %g = memref.alloc() : memref<2xf32>
    scf.for %i = %c0 to %c2 step %c1 {
      %e = memref.load %x[%t, %i] : memref<3x2xf32>
      %s = scf.for %k = %c0 to %c2 step %c1 iter_args(%a = %e) -> (f32) {
        %u = memref.load %h[%k] : memref<2xf32>
        %v = memref.load %w[%k, %i] : memref<2x2xf32>
        %p = arith.mulf %u, %v : f32
        %q = arith.addf %a, %p : f32
        scf.yield %q : f32
      }
      %d = memref.load %c[%i] : memref<2xf32>
      %o = arith.addf %s, %d : f32
      memref.store %o, %g[%i] : memref<2xf32>
    }
    memref.dealloc %c : memref<2xf32>
    %n = memref.alloc() : memref<2xf32>
    scf.for %i = %c0 to %c2 step %c1 {
      %a = memref.load %g[%i] : memref<2xf32>
      %b = memref.load %h[%i] : memref<2xf32>
      %o = arith.mulf %a, %b : f32
      %q = arith.addf %o, %one : f32
      memref.store %q, %n[%i] : memref<2xf32>
    }
    memref.dealloc %h : memref<2xf32>
    scf.yield %n, %g : memref<2xf32>, memref<2xf32>
  }
  memref.copy %r#0, %y : memref<2xf32> to memref<2xf32>
  memref.copy %r#1, %z : memref<2xf32> to memref<2xf32>
  memref.dealloc %r#0 : memref<2xf32>
  memref.dealloc %r#1 : memref<2xf32>
  return
}
// -----
// error
func.func @f(%x: memref<3x2xf32>, %w: memref<2x2xf32>, %y: memref<2xf32>, %z: memref<2xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %h0 = memref.alloc() : memref<2xf32>
  %c_0 = memref.alloc() : memref<2xf32>
  scf.for %i = %c0 to %c2 step %c1 {
    memref.store %zero, %h0[%i] : memref<2xf32>
    memref.store %zero, %c_0[%i] : memref<2xf32>
  }
  %r:2 = scf.for %t = %c0 to %c2 step %c1 iter_args(%h = %h0, %c = %c_0) -> (memref<2xf32>, memref<2xf32>) {
    %g = memref.alloc() : memref<2xf32>
    scf.for %i = %c0 to %c2 step %c1 {
      %e = memref.load %x[%t, %i] : memref<3x2xf32>
      %s = scf.for %k = %c0 to %c2 step %c1 iter_args(%a = %e) -> (f32) {
        %u = memref.load %h[%k] : memref<2xf32>
        %v = memref.load %w[%k, %i] : memref<2x2xf32>
        %p = arith.mulf %u, %v : f32
        %q = arith.addf %a, %p : f32
        scf.yield %q : f32
      }
      %d = memref.load %c[%i] : memref<2xf32>
      %o = arith.addf %s, %d : f32
      memref.store %o, %g[%i] : memref<2xf32>
    }
    memref.dealloc %c : memref<2xf32>
    %n = memref.alloc() : memref<2xf32>
    scf.for %i = %c0 to %c2 step %c1 {
      %a = memref.load %g[%i] : memref<2xf32>
      %b = memref.load %h[%i] : memref<2xf32>
      %o = arith.mulf %a, %b : f32
      %q = arith.addf %o, %one : f32
      memref.store %q, %n[%i] : memref<2xf32>
    }
    memref.dealloc %h : memref<2xf32>
    scf.yield %n, %g : memref<2xf32>, memref<2xf32>
  }
  memref.copy %r#0, %y : memref<2xf32> to memref<2xf32>
  memref.copy %r#1, %z : memref<2xf32> to memref<2xf32>
  memref.dealloc %r#0 : memref<2xf32>
  memref.dealloc %r#1 : memref<2xf32>
  return
}
// -----
// error
func.func @f(%x: memref<3x2xf32>, %w: memref<2x2xf32>, %y: memref<2xf32>, %z: memref<2xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %h0 = memref.alloc() : memref<2xf32>
  %c_0 = memref.alloc() : memref<2xf32>
  scf.for %i = %c0 to %c2 step %c1 {
    memref.store %zero, %h0[%i] : memref<2xf32>
    memref.store %zero, %c_0[%i] : memref<2xf32>
  }
  %r:2 = scf.for %t = %c0 to %c3 step %c1 iter_args(%h = %h0, %c = %c_0) -> (memref<2xf32>, memref<2xf32>) {
    %g = memref.alloc() : memref<2xf32>
    scf.for %i = %c0 to %c2 step %c1 {
      %e = memref.load %x[%t, %i] : memref<3x2xf32>
      %s = scf.for %k = %c0 to %c2 step %c1 iter_args(%a = %e) -> (f32) {
        %u = memref.load %h[%i] : memref<2xf32>
        %v = memref.load %w[%k, %i] : memref<2x2xf32>
        %p = arith.mulf %u, %v : f32
        %q = arith.addf %a, %p : f32
        scf.yield %q : f32
      }
      %d = memref.load %c[%i] : memref<2xf32>
      %o = arith.addf %s, %d : f32
      memref.store %o, %g[%i] : memref<2xf32>
    }
    memref.dealloc %c : memref<2xf32>
    %n = memref.alloc() : memref<2xf32>
    scf.for %i = %c0 to %c2 step %c1 {
      %a = memref.load %g[%i] : memref<2xf32>
      %b = memref.load %h[%i] : memref<2xf32>
      %o = arith.mulf %a, %b : f32
      %q = arith.addf %o, %one : f32
      memref.store %q, %n[%i] : memref<2xf32>
    }
    memref.dealloc %h : memref<2xf32>
    scf.yield %n, %g : memref<2xf32>, memref<2xf32>
  }
  memref.copy %r#0, %y : memref<2xf32> to memref<2xf32>
  memref.copy %r#1, %z : memref<2xf32> to memref<2xf32>
  memref.dealloc %r#0 : memref<2xf32>
  memref.dealloc %r#1 : memref<2xf32>
  return
}
// -----
// error
func.func @f(%x: memref<3x2xf32>, %w: memref<2x2xf32>, %y: memref<2xf32>, %z: memref<2xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %h0 = memref.alloc() : memref<2xf32>
  %c_0 = memref.alloc() : memref<2xf32>
  scf.for %i = %c0 to %c2 step %c1 {
    memref.store %zero, %h0[%i] : memref<2xf32>
    memref.store %zero, %c_0[%i] : memref<2xf32>
  }
  %r:2 = scf.for %t = %c0 to %c3 step %c1 iter_args(%h = %h0, %c = %c_0) -> (memref<2xf32>, memref<2xf32>) {
    %g = memref.alloc() : memref<2xf32>
    scf.for %i = %c0 to %c2 step %c1 {
      %e = memref.load %x[%t, %i] : memref<3x2xf32>
      %s = scf.for %k = %c0 to %c2 step %c1 iter_args(%a = %e) -> (f32) {
        %u = memref.load %c[%k] : memref<2xf32>
        %v = memref.load %w[%k, %i] : memref<2x2xf32>
        %p = arith.mulf %u, %v : f32
        %q = arith.addf %a, %p : f32
        scf.yield %q : f32
      }
      %d = memref.load %c[%i] : memref<2xf32>
      %o = arith.addf %s, %d : f32
      memref.store %o, %g[%i] : memref<2xf32>
    }
    memref.dealloc %c : memref<2xf32>
    %n = memref.alloc() : memref<2xf32>
    scf.for %i = %c0 to %c2 step %c1 {
      %a = memref.load %g[%i] : memref<2xf32>
      %b = memref.load %h[%i] : memref<2xf32>
      %o = arith.mulf %a, %b : f32
      %q = arith.addf %o, %one : f32
      memref.store %q, %n[%i] : memref<2xf32>
    }
    memref.dealloc %h : memref<2xf32>
    scf.yield %n, %g : memref<2xf32>, memref<2xf32>
  }
  memref.copy %r#0, %y : memref<2xf32> to memref<2xf32>
  memref.copy %r#1, %z : memref<2xf32> to memref<2xf32>
  memref.dealloc %r#0 : memref<2xf32>
  memref.dealloc %r#1 : memref<2xf32>
  return
}
// -----
// error
func.func @f(%x: memref<3x2xf32>, %w: memref<2x2xf32>, %y: memref<2xf32>, %z: memref<2xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %h0 = memref.alloc() : memref<2xf32>
  %c_0 = memref.alloc() : memref<2xf32>
  scf.for %i = %c0 to %c2 step %c1 {
    memref.store %zero, %h0[%i] : memref<2xf32>
    memref.store %zero, %c_0[%i] : memref<2xf32>
  }
  %r:2 = scf.for %t = %c0 to %c3 step %c1 iter_args(%h = %h0, %c = %c_0) -> (memref<2xf32>, memref<2xf32>) {
    %g = memref.alloc() : memref<2xf32>
    scf.for %i = %c0 to %c2 step %c1 {
      %e = memref.load %x[%t, %i] : memref<3x2xf32>
      %s = scf.for %k = %c0 to %c2 step %c1 iter_args(%a = %e) -> (f32) {
        %u = memref.load %h[%k] : memref<2xf32>
        %v = memref.load %w[%k, %i] : memref<2x2xf32>
        %p = arith.mulf %u, %v : f32
        %q = arith.addf %a, %p : f32
        scf.yield %q : f32
      }
      %d = memref.load %c[%i] : memref<2xf32>
      %o = arith.addf %s, %d : f32
      memref.store %o, %g[%i] : memref<2xf32>
    }
    memref.dealloc %c : memref<2xf32>
    %n = memref.alloc() : memref<2xf32>
    scf.for %i = %c0 to %c2 step %c1 {
      %a = memref.load %g[%i] : memref<2xf32>
      %b = memref.load %g[%i] : memref<2xf32>
      %o = arith.mulf %a, %b : f32
      %q = arith.addf %o, %one : f32
      memref.store %q, %n[%i] : memref<2xf32>
    }
    memref.dealloc %h : memref<2xf32>
    scf.yield %n, %g : memref<2xf32>, memref<2xf32>
  }
  memref.copy %r#0, %y : memref<2xf32> to memref<2xf32>
  memref.copy %r#1, %z : memref<2xf32> to memref<2xf32>
  memref.dealloc %r#0 : memref<2xf32>
  memref.dealloc %r#1 : memref<2xf32>
  return
}
// -----
// error
func.func @f(%x: memref<3x2xf32>, %w: memref<2x2xf32>, %y: memref<2xf32>, %z: memref<2xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %h0 = memref.alloc() : memref<2xf32>
  %c_0 = memref.alloc() : memref<2xf32>
  scf.for %i = %c0 to %c2 step %c1 {
    memref.store %one, %h0[%i] : memref<2xf32>
    memref.store %zero, %c_0[%i] : memref<2xf32>
  }
  %r:2 = scf.for %t = %c0 to %c3 step %c1 iter_args(%h = %h0, %c = %c_0) -> (memref<2xf32>, memref<2xf32>) {
    %g = memref.alloc() : memref<2xf32>
    scf.for %i = %c0 to %c2 step %c1 {
      %e = memref.load %x[%t, %i] : memref<3x2xf32>
      %s = scf.for %k = %c0 to %c2 step %c1 iter_args(%a = %e) -> (f32) {
        %u = memref.load %h[%k] : memref<2xf32>
        %v = memref.load %w[%k, %i] : memref<2x2xf32>
        %p = arith.mulf %u, %v : f32
        %q = arith.addf %a, %p : f32
        scf.yield %q : f32
      }
      %d = memref.load %c[%i] : memref<2xf32>
      %o = arith.addf %s, %d : f32
      memref.store %o, %g[%i] : memref<2xf32>
    }
    memref.dealloc %c : memref<2xf32>
    %n = memref.alloc() : memref<2xf32>
    scf.for %i = %c0 to %c2 step %c1 {
      %a = memref.load %g[%i] : memref<2xf32>
      %b = memref.load %h[%i] : memref<2xf32>
      %o = arith.mulf %a, %b : f32
      %q = arith.addf %o, %one : f32
      memref.store %q, %n[%i] : memref<2xf32>
    }
    memref.dealloc %h : memref<2xf32>
    scf.yield %n, %g : memref<2xf32>, memref<2xf32>
  }
  memref.copy %r#0, %y : memref<2xf32> to memref<2xf32>
  memref.copy %r#1, %z : memref<2xf32> to memref<2xf32>
  memref.dealloc %r#0 : memref<2xf32>
  memref.dealloc %r#1 : memref<2xf32>
  return
}
// -----
// error
func.func @f(%x: memref<3x2xf32>, %w: memref<2x2xf32>, %y: memref<2xf32>, %z: memref<2xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %h0 = memref.alloc() : memref<2xf32>
  %c_0 = memref.alloc() : memref<2xf32>
  scf.for %i = %c0 to %c2 step %c1 {
    memref.store %zero, %h0[%i] : memref<2xf32>
    memref.store %zero, %c_0[%i] : memref<2xf32>
  }
  %r:2 = scf.for %t = %c0 to %c3 step %c1 iter_args(%h = %h0, %c = %c_0) -> (memref<2xf32>, memref<2xf32>) {
    %g = memref.alloc() : memref<2xf32>
    scf.for %i = %c0 to %c2 step %c1 {
      %e = memref.load %x[%t, %i] : memref<3x2xf32>
      %s = scf.for %k = %c0 to %c2 step %c1 iter_args(%a = %e) -> (f32) {
        %u = memref.load %h[%k] : memref<2xf32>
        %v = memref.load %w[%k, %i] : memref<2x2xf32>
        %p = arith.mulf %u, %v : f32
        %q = arith.addf %a, %p : f32
        scf.yield %q : f32
      }
      %d = memref.load %c[%i] : memref<2xf32>
      %o = arith.addf %s, %d : f32
      memref.store %o, %g[%i] : memref<2xf32>
    }
    memref.dealloc %c : memref<2xf32>
    %n = memref.alloc() : memref<2xf32>
    scf.for %i = %c0 to %c2 step %c1 {
      %a = memref.load %g[%i] : memref<2xf32>
      %b = memref.load %h[%i] : memref<2xf32>
      %o = arith.mulf %a, %b : f32
      %q = arith.addf %o, %one : f32
      memref.store %q, %n[%i] : memref<2xf32>
    }
    memref.dealloc %h : memref<2xf32>
    scf.yield %g, %n : memref<2xf32>, memref<2xf32>
  }
  memref.copy %r#0, %y : memref<2xf32> to memref<2xf32>
  memref.copy %r#1, %z : memref<2xf32> to memref<2xf32>
  memref.dealloc %r#0 : memref<2xf32>
  memref.dealloc %r#1 : memref<2xf32>
  return
}
// -----
// error
func.func @f(%x: memref<3x2xf32>, %w: memref<2x2xf32>, %y: memref<2xf32>, %z: memref<2xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %h0 = memref.alloc() : memref<2xf32>
  %c_0 = memref.alloc() : memref<2xf32>
  scf.for %i = %c0 to %c2 step %c1 {
    memref.store %zero, %h0[%i] : memref<2xf32>
    memref.store %zero, %c_0[%i] : memref<2xf32>
  }
  %r:2 = scf.for %t = %c0 to %c3 step %c1 iter_args(%h = %h0, %c = %c_0) -> (memref<2xf32>, memref<2xf32>) {
    %g = memref.alloc() : memref<2xf32>
    scf.for %i = %c0 to %c2 step %c1 {
      %e = memref.load %x[%t, %i] : memref<3x2xf32>
      %s = scf.for %k = %c0 to %c2 step %c1 iter_args(%a = %e) -> (f32) {
        %u = memref.load %h[%k] : memref<2xf32>
        %v = memref.load %w[%k, %i] : memref<2x2xf32>
        %p = arith.mulf %u, %v : f32
        %q = arith.addf %a, %p : f32
        scf.yield %q : f32
      }
      %d = memref.load %c[%i] : memref<2xf32>
      %o = arith.addf %s, %d : f32
      memref.store %o, %g[%i] : memref<2xf32>
    }
    memref.dealloc %c : memref<2xf32>
    %n = memref.alloc() : memref<2xf32>
    scf.for %i = %c0 to %c2 step %c1 {
      %a = memref.load %g[%i] : memref<2xf32>
      %b = memref.load %h[%i] : memref<2xf32>
      %o = arith.mulf %a, %b : f32
      %q = arith.addf %o, %one : f32
      memref.store %q, %n[%i] : memref<2xf32>
    }
    memref.dealloc %h : memref<2xf32>
    scf.yield %n, %g : memref<2xf32>, memref<2xf32>
  }
  memref.copy %r#1, %y : memref<2xf32> to memref<2xf32>
  memref.copy %r#1, %z : memref<2xf32> to memref<2xf32>
  memref.dealloc %r#0 : memref<2xf32>
  memref.dealloc %r#1 : memref<2xf32>
  return
}
// -----
// error
func.func @f(%x: memref<3x2xf32>, %w: memref<2x2xf32>, %y: memref<2xf32>, %z: memref<2xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %h0 = memref.alloc() : memref<2xf32>
  %c_0 = memref.alloc() : memref<2xf32>
  scf.for %i = %c0 to %c2 step %c1 {
    memref.store %zero, %h0[%i] : memref<2xf32>
    memref.store %zero, %c_0[%i] : memref<2xf32>
  }
  %r:2 = scf.for %t = %c0 to %c3 step %c1 iter_args(%h = %h0, %c = %c_0) -> (memref<2xf32>, memref<2xf32>) {
    %g = memref.alloc() : memref<2xf32>
    scf.for %i = %c0 to %c2 step %c1 {
      %e = memref.load %x[%c0, %i] : memref<3x2xf32>
      %s = scf.for %k = %c0 to %c2 step %c1 iter_args(%a = %e) -> (f32) {
        %u = memref.load %h[%k] : memref<2xf32>
        %v = memref.load %w[%k, %i] : memref<2x2xf32>
        %p = arith.mulf %u, %v : f32
        %q = arith.addf %a, %p : f32
        scf.yield %q : f32
      }
      %d = memref.load %c[%i] : memref<2xf32>
      %o = arith.addf %s, %d : f32
      memref.store %o, %g[%i] : memref<2xf32>
    }
    memref.dealloc %c : memref<2xf32>
    %n = memref.alloc() : memref<2xf32>
    scf.for %i = %c0 to %c2 step %c1 {
      %a = memref.load %g[%i] : memref<2xf32>
      %b = memref.load %h[%i] : memref<2xf32>
      %o = arith.mulf %a, %b : f32
      %q = arith.addf %o, %one : f32
      memref.store %q, %n[%i] : memref<2xf32>
    }
    memref.dealloc %h : memref<2xf32>
    scf.yield %n, %g : memref<2xf32>, memref<2xf32>
  }
  memref.copy %r#0, %y : memref<2xf32> to memref<2xf32>
  memref.copy %r#1, %z : memref<2xf32> to memref<2xf32>
  memref.dealloc %r#0 : memref<2xf32>
  memref.dealloc %r#1 : memref<2xf32>
  return
}
// -----
// error
func.func @f(%x: memref<3x2xf32>, %w: memref<2x2xf32>, %y: memref<2xf32>, %z: memref<2xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %h0 = memref.alloc() : memref<2xf32>
  %c_0 = memref.alloc() : memref<2xf32>
  scf.for %i = %c0 to %c2 step %c1 {
    memref.store %zero, %h0[%i] : memref<2xf32>
    memref.store %zero, %c_0[%i] : memref<2xf32>
  }
  %r:2 = scf.for %t = %c0 to %c3 step %c1 iter_args(%h = %h0, %c = %c_0) -> (memref<2xf32>, memref<2xf32>) {
    %g = memref.alloc() : memref<2xf32>
    scf.for %i = %c0 to %c2 step %c1 {
      %e = memref.load %x[%t, %i] : memref<3x2xf32>
      %s = scf.for %k = %c0 to %c2 step %c1 iter_args(%a = %e) -> (f32) {
        %u = memref.load %h[%k] : memref<2xf32>
        %v = memref.load %w[%k, %i] : memref<2x2xf32>
        %p = arith.mulf %u, %v : f32
        %q = arith.addf %a, %p : f32
        scf.yield %q : f32
      }
      %d = memref.load %c[%i] : memref<2xf32>
      %o = arith.addf %s, %d : f32
      memref.store %o, %g[%i] : memref<2xf32>
    }
    memref.dealloc %h : memref<2xf32>
    %n = memref.alloc() : memref<2xf32>
    scf.for %i = %c0 to %c2 step %c1 {
      %a = memref.load %g[%i] : memref<2xf32>
      %b = memref.load %h[%i] : memref<2xf32>
      %o = arith.mulf %a, %b : f32
      %q = arith.addf %o, %one : f32
      memref.store %q, %n[%i] : memref<2xf32>
    }
    memref.dealloc %h : memref<2xf32>
    scf.yield %n, %g : memref<2xf32>, memref<2xf32>
  }
  memref.copy %r#0, %y : memref<2xf32> to memref<2xf32>
  memref.copy %r#1, %z : memref<2xf32> to memref<2xf32>
  memref.dealloc %r#0 : memref<2xf32>
  memref.dealloc %r#1 : memref<2xf32>
  return
}
