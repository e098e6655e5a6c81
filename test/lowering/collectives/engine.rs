//! Imported programs, compiled in this process.

use super::runtime::{Device, World, enter, symbols};
use crate::jit;
use layout_runtime::{Descriptor, Engine};
use melior::{ir::Module, pass::PassManager, utility};

/// A compiled function from one array of `f64` to another.
pub struct Program {
    engine: Engine,
}

/// A function pointer that threads share.
#[derive(Clone, Copy)]
struct Entry(*mut ());

// SAFETY: compiled code has no state.
unsafe impl Sync for Entry {}
// SAFETY: as above.
unsafe impl Send for Entry {}

impl Program {
    pub fn new(mlir: &str) -> Program {
        let context = jit::context();
        let (before, rest) = mlir.split_once("func.func @main(").expect("an entry");
        let rest = rest.replacen(") {\n", ") attributes {llvm.emit_c_interface} {\n", 1);
        let text = format!("{before}func.func @main({rest}");
        let mut module = Module::parse(&context, &text).expect("a module that verifies");
        let passes = PassManager::new(&context);
        let pipeline = "builtin.module(layout-to-llvm)";
        utility::parse_pass_pipeline(passes.as_operation_pass_manager(), pipeline).expect("a pipeline");
        passes.run(&mut module).expect("a lowered module");
        let engine = jit::engine(&module);
        for (name, function) in symbols() {
            // SAFETY: the function has the parameters of its calls in imported programs.
            unsafe { engine.register(name, function) };
        }
        Program { engine }
    }

    /// The results of all devices for their arguments: `count` numbers each.
    pub fn on_threads(&self, numbers: &[Vec<f64>], partitions: usize, count: usize) -> Vec<Vec<f64>> {
        let entry = Entry(self.engine.lookup("_mlir_ciface_main").expect("the entry is compiled"));
        let world = World::new(numbers.len());
        let run = |number: usize, own: &Vec<f64>| {
            enter(Device { world: world.clone(), number, partitions });
            let Entry(entry) = { entry };
            // SAFETY: the entry takes a pointer to its result's descriptor, and one to its argument's.
            let call: extern "C" fn(*mut u64, *const u64) = unsafe { std::mem::transmute(entry) };
            let argument = Descriptor::new(own.as_ptr() as u64, 0, &[own.len() as i64], &[1]);
            let mut result = Descriptor::of_rank(1);
            call(result.words_mut().as_mut_ptr(), argument.words().as_ptr());
            let data = (result.start() + result.offset() as u64 * 8) as *const f64;
            // SAFETY: the entry returns as many numbers as its type says. They are not freed: the process ends.
            unsafe { std::slice::from_raw_parts(data, count) }.to_vec()
        };
        std::thread::scope(|scope| {
            let threads: Vec<_> = (0..numbers.len()).map(|d| scope.spawn(move || run(d, &numbers[d]))).collect();
            threads.into_iter().map(|thread| thread.join().expect("a device")).collect()
        })
    }
}
