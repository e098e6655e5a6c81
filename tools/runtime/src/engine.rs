//! Compiled modules, and the call of a function through MLIR's C interface.
//!
//! A function with `llvm.emit_c_interface` takes a pointer to the descriptor of each memref; if it has results, its
//! first parameter is a pointer to room for all their descriptors. The engine's packed call takes the address of each
//! pointer.

use crate::descriptor::Descriptor;
use melior::ir::Module;
use mlir_sys::{
    MlirExecutionEngine, MlirStringRef, mlirExecutionEngineCreate, mlirExecutionEngineDestroy,
    mlirExecutionEngineInvokePacked, mlirExecutionEngineLookup, mlirExecutionEngineRegisterSymbol,
};
use std::ffi::{CString, c_void};
use std::path::Path;
use tensor_layout::text::Error;

/// A module compiled in this process.
pub struct Engine {
    raw: MlirExecutionEngine,
}

/// The argument of a call for one parameter.
#[derive(Clone, Debug)]
pub enum Passed {
    /// A memref.
    Memory(Descriptor),
    /// A number in the low bits: an index, an integer of at most 64 bits, or the bits of a float.
    Number(u64),
}

impl Engine {
    /// Compiles a module of the LLVM dialect at an optimisation level from 0 to 3, with functions of these shared
    /// libraries.
    ///
    /// # Errors
    /// LLVM refuses the module, with details in the diagnostics of the module's context; or a path has a zero byte.
    pub fn new(module: &Module, level: usize, libraries: &[&Path]) -> Result<Engine, Error> {
        // MLIR reads up to a zero byte, whatever the length says.
        let paths = libraries.iter().map(|path| CString::new(path.as_os_str().as_encoded_bytes()));
        let paths: Vec<CString> =
            paths.collect::<Result<_, _>>().map_err(|_| Error::new("the path of a library has a zero byte"))?;
        let texts: Vec<MlirStringRef> = paths.iter().map(string_ref).collect();
        // SAFETY: the module is alive, and the texts live through the call.
        let raw = unsafe {
            let (count, level) = (texts.len() as i32, level.min(3) as i32);
            mlirExecutionEngineCreate(module.to_raw(), level, count, texts.as_ptr(), false, false)
        };
        match raw.ptr.is_null() {
            true => Err(Error::new("the module is not compiled: it must be lowered to the LLVM dialect")),
            false => Ok(Engine { raw }),
        }
    }

    /// Lets compiled code call a function of this process by a name.
    ///
    /// # Safety
    /// The function has the parameters and results of the module's declaration of that name.
    pub unsafe fn register(&self, name: &str, function: *mut ()) {
        let Ok(name) = CString::new(name) else { return };
        // SAFETY: the engine is alive, and the text lives through the call.
        unsafe { mlirExecutionEngineRegisterSymbol(self.raw, string_ref(&name), function.cast()) }
    }

    /// The address of a compiled function.
    pub fn lookup(&self, name: &str) -> Option<*mut ()> {
        let name = CString::new(name).ok()?;
        // SAFETY: the engine is alive, and the text lives through the call.
        let found = unsafe { mlirExecutionEngineLookup(self.raw, string_ref(&name)) };
        (!found.is_null()).then_some(found.cast())
    }

    /// Calls a function, whose results are memrefs with the ranks of `results`.
    ///
    /// # Safety
    /// The function has these parameters and results and `llvm.emit_c_interface`, and the descriptors point to memory
    /// that it expects.
    ///
    /// # Errors
    /// No such function, or the call fails.
    pub unsafe fn invoke(&self, name: &str, results: &mut [Descriptor], arguments: &[Passed]) -> Result<(), Error> {
        let interface = format!("_mlir_ciface_{name}");
        let (Some(_), Ok(text)) = (self.lookup(&interface), CString::new(name)) else {
            return Err(Error::new(format!("the module has no function `{name}` with `llvm.emit_c_interface`")));
        };
        let mut returned: Vec<u64> = results.iter().flat_map(|result| result.words().to_vec()).collect();
        let mut memories: Vec<Vec<u64>> = Vec::new();
        let room = (!returned.is_empty()).then_some(returned.as_mut_ptr() as u64);
        let passed = arguments.iter().map(|argument| match argument {
            Passed::Number(number) => *number,
            Passed::Memory(memory) => {
                // The elements of a vector stay in place when the vector moves.
                memories.push(memory.words().to_vec());
                memories.last_mut().map_or(0, |words| words.as_mut_ptr() as u64)
            }
        });
        let mut values: Vec<u64> = room.into_iter().chain(passed).collect();
        let mut packed: Vec<*mut c_void> = values.iter_mut().map(|value| std::ptr::from_mut(value).cast()).collect();
        // SAFETY: the caller ensures the function's types; all memory lives until the end.
        let outcome = unsafe { mlirExecutionEngineInvokePacked(self.raw, string_ref(&text), packed.as_mut_ptr()) };
        if outcome.value == 0 {
            return Err(Error::new(format!("the call of `{name}` failed")));
        }
        let mut rest = &returned[..];
        for result in results {
            let own = result.words_mut();
            let (words, others) = rest.split_at(own.len());
            own.copy_from_slice(words);
            rest = others;
        }
        Ok(())
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        // SAFETY: the engine is alive, and is not used again.
        unsafe { mlirExecutionEngineDestroy(self.raw) }
    }
}

fn string_ref(text: &CString) -> MlirStringRef {
    MlirStringRef { data: text.as_ptr(), length: text.as_bytes().len() }
}
