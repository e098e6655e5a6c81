//! Runs a lowered function in separate processes, one for each draw of numbers.

use crate::interface::{Interface, Value};
use crate::reverse::reversed;
use crate::{jit, memory, text};
use layout_reference::choices::Choices;
use melior::ir::Module;
use melior::{Context, pass::PassManager, utility};
use std::ffi::c_void;
use std::io::Read;
use std::os::fd::FromRawFd;

/// The number of draws: numbers that round, small integers, special numbers, each with different memory around.
pub const DRAWS: usize = 7;
/// The time limits in seconds of a call, and of compilation with all calls.
const SECONDS: [u32; 2] = [2, 60];
const FILLS: [u8; 3] = [0x00, 0xff, 0x7f];

/// The elements after each draw, results first; `None` after an abnormal end.
pub type Left = Vec<Option<Vec<u64>>>;

/// The output of a forked process; `None` after a crash.
fn apart(seconds: u32, work: impl FnOnce() -> Vec<u64>) -> Option<Vec<u64>> {
    let mut ends = [0; 2];
    // SAFETY: this process has one thread that compiles or runs, so the child finds consistent state; it ends without a
    // return. The ends of the pipe have no other users.
    unsafe {
        assert_eq!(libc::pipe(ends.as_mut_ptr()), 0, "a pipe");
        let child = libc::fork();
        assert!(child >= 0, "a process");
        if child == 0 {
            libc::close(ends[0]);
            libc::alarm(seconds);
            for signal in [libc::SIGSEGV, libc::SIGABRT, libc::SIGBUS, libc::SIGILL, libc::SIGFPE] {
                libc::signal(signal, libc::SIG_DFL);
            }
            let bytes: Vec<u8> = work().into_iter().flat_map(u64::to_le_bytes).collect();
            let mut at = 0;
            while at < bytes.len() {
                let count = libc::write(ends[1], bytes[at..].as_ptr().cast(), bytes.len() - at);
                if count <= 0 {
                    libc::_exit(4);
                }
                at += count as usize;
            }
            libc::_exit(0);
        }
        libc::close(ends[1]);
        let mut bytes = vec![];
        let read = std::fs::File::from_raw_fd(ends[0]).read_to_end(&mut bytes);
        let mut status = 0;
        libc::waitpid(child, &mut status, 0);
        let ended = libc::WIFEXITED(status) && libc::WEXITSTATUS(status) == 0;
        (ended && read.is_ok())
            .then(|| bytes.chunks(8).map(|word| u64::from_le_bytes(word.try_into().expect("8"))).collect())
    }
}

/// The options of a run.
pub struct How<'a> {
    /// Whether the program is not lowered.
    pub tensors: bool,
    /// The draws that run.
    pub draws: &'a [bool; DRAWS],
    /// The number of failed draws after which no more run.
    pub patience: usize,
    /// Whether parallel loops run in reverse order.
    pub reverse: bool,
}

/// Compiles a module and runs one function. `None` if it does not compile.
pub fn run(context: &Context, text: &str, interface: &Interface, seed: u64, how: How) -> Option<Left> {
    let words = apart(SECONDS[1], || {
        // Messages about failed lowering say nothing new.
        // SAFETY: the descriptors belong to this process, which ends soon.
        unsafe {
            let nowhere = libc::open(c"/dev/null".as_ptr(), libc::O_WRONLY);
            libc::dup2(nowhere, 1);
            libc::dup2(nowhere, 2);
        }
        let Some(engine) = compiled(context, text, &interface.name, &how) else { return vec![] };
        let name = format!("_mlir__mlir_ciface_{}", interface.name);
        let Some(function) = engine.lookup(&name) else { return vec![] };
        let mut all = vec![DRAWS as u64];
        let mut failed = 0;
        for draw in 0..DRAWS {
            // After several failed draws, no more are needed.
            let runs = how.draws[draw] && failed < how.patience;
            let left = if runs { apart(SECONDS[0], || call(function, interface, seed, draw)) } else { None };
            failed += usize::from(runs && left.is_none());
            all.push(left.as_ref().map_or(u64::MAX, |left| left.len() as u64));
            all.extend(left.unwrap_or_default());
        }
        all
    });
    // Compiler crashes on verified programs are out of scope.
    let mut words = words?.into_iter();
    words.next()?;
    let mut left = vec![];
    for _ in 0..DRAWS {
        left.push(match words.next()? {
            u64::MAX => None,
            count => Some(words.by_ref().take(count as usize).collect()),
        });
    }
    Some(left)
}

fn compiled(context: &Context, text: &str, name: &str, how: &How) -> Option<layout_runtime::Engine> {
    // Stack memory becomes allocated memory, and alignment is reduced to the elements'.
    let text = text.replace("\"memref.alloca\"", "\"memref.alloc\"");
    let mut lines: Vec<String> = text.lines().map(without_alignment).collect();
    if how.reverse {
        lines = reversed(&lines);
    }
    let symbol = format!("sym_name = \"{name}\"");
    let header = lines.iter().position(|line| line.contains("\"func.func\"") && line.contains(&symbol))?;
    let last = text::end_of(&lines, header);
    lines[last] = match lines[last].trim_start().starts_with("}) {") {
        true => lines[last].replacen("}) {", "}) {llvm.emit_c_interface, ", 1),
        false => lines[last].replacen("})", "}) {llvm.emit_c_interface}", 1),
    };
    let mut module = Module::parse(context, &lines.join("\n"))?;
    let passes = PassManager::new(context);
    let pipeline = if how.tensors {
        "builtin.module(layout-to-llvm)"
    } else {
        "builtin.module(layout-convert-to-llvm{arena=none})"
    };
    utility::parse_pass_pipeline(passes.as_operation_pass_manager(), pipeline).expect("a pipeline");
    passes.run(&mut module).ok()?;
    let engine = jit::engine(&module);
    // SAFETY: these have the signatures of C's functions.
    unsafe {
        engine.register("malloc", memory::allocate as *mut ());
        engine.register("aligned_alloc", memory::allocate_aligned as *mut ());
        engine.register("free", memory::free as *mut ());
    }
    Some(engine)
}

fn without_alignment(line: &str) -> String {
    let Some(at) = line.find("alignment = ").filter(|_| line.contains("\"memref.alloc\"")) else {
        return line.to_owned();
    };
    let rest = &line[at..];
    let end = rest.find(", ").map_or(rest.len(), |end| end + 2);
    format!("{}{}", &line[..at], &rest[end..])
}

/// The words of a memref's descriptor.
fn descriptor(start: u64, memory: &crate::interface::Memory) -> Vec<u64> {
    let numbers = [memory.offset].into_iter().chain(memory.sizes.iter().copied()).chain(memory.strides.iter().copied());
    [start, start].into_iter().chain(numbers.map(|n| n as u64)).collect()
}

/// The arguments of a call: the words of each, and the address of its buffer.
struct Arguments {
    words: Vec<Vec<u64>>,
    starts: Vec<usize>,
}

impl Arguments {
    /// Random arguments, their buffers allocated.
    fn random(interface: &Interface, choices: &mut Choices, draw: usize) -> Arguments {
        let (mut words, mut starts) = (vec![], vec![]);
        for argument in &interface.arguments {
            match argument {
                Value::Number(_) => {
                    words.push(vec![argument.random(choices, draw)]);
                    starts.push(0);
                }
                Value::Memory(memory) => {
                    let start = memory::allocate(memory.bytes);
                    // SAFETY: the buffer has this size.
                    let buffer = unsafe { std::slice::from_raw_parts_mut(start.cast(), memory.bytes) };
                    memory.write(choices, draw, buffer);
                    words.push(descriptor(start as u64, memory));
                    starts.push(start as usize);
                }
            }
        }
        Arguments { words, starts }
    }
}

/// The fields of the returned struct, each with its offset, and the size of all.
fn result_fields(results: &[Value]) -> (Vec<usize>, usize) {
    let (mut fields, mut end) = (vec![], 0_usize);
    for result in results {
        let (size, align) = match result {
            Value::Number(element) => {
                (element.bits.div_ceil(8).next_power_of_two(), element.bits.div_ceil(8).next_power_of_two())
            }
            Value::Memory(memory) => (8 * (3 + 2 * memory.sizes.len()), 8),
        };
        let at = end.next_multiple_of(align);
        fields.push(at);
        end = at + size;
    }
    (fields, end)
}

/// The elements of a result.
///
/// # Safety
/// The field is one of the returned struct, and aligned.
unsafe fn left_in(result: &Value, field: *const u8) -> Vec<u64> {
    match result {
        Value::Number(element) => {
            let mut bits = 0;
            // SAFETY: as above.
            (0..element.bits.div_ceil(8)).for_each(|k| bits |= u64::from(unsafe { *field.add(k) }) << (8 * k));
            vec![result.plain(bits)]
        }
        Value::Memory(memory) => {
            // SAFETY: as above; the second word is the address, the third the offset.
            let start = unsafe { *field.cast::<usize>().add(1) };
            // Otherwise a constant, or other memory of the process, or no address.
            if !memory::holds(start, memory.reach()) && start < 4096 {
                return vec![];
            }
            // SAFETY: the buffer is live and has this size; a wrong address ends only this process.
            memory.read(unsafe { std::slice::from_raw_parts(start as *const u8, memory.reach()) })
        }
    }
}

/// The results of a call, then its arguments.
fn call(function: *mut (), interface: &Interface, seed: u64, draw: usize) -> Vec<u64> {
    memory::fill(FILLS[draw % 3], draw.is_multiple_of(2));
    let mut choices = Choices::random(seed.wrapping_mul(1000) + draw as u64);
    let Arguments { mut words, starts } = Arguments::random(interface, &mut choices, draw);
    let (fields, end) = result_fields(&interface.results);
    let mut room = vec![0_u64; end.div_ceil(8) + 1];
    let number = matches!(interface.results[..], [Value::Number(_)]);
    let mut values: Vec<u64> = vec![];
    if !interface.results.is_empty() && !number {
        values.push(room.as_mut_ptr() as u64);
    }
    for (argument, words) in interface.arguments.iter().zip(&mut words) {
        values.push(if matches!(argument, Value::Number(_)) { words[0] } else { words.as_mut_ptr() as u64 });
    }
    let mut packed: Vec<*mut c_void> = values.iter_mut().map(|value| std::ptr::from_mut(value).cast()).collect();
    if number {
        packed.push(room.as_mut_ptr().cast());
    }
    // SAFETY: the function has the signature of its interface.
    unsafe {
        let function: extern "C" fn(*mut *mut c_void) = std::mem::transmute(function);
        function(packed.as_mut_ptr());
    }
    let mut left = vec![];
    for (result, at) in interface.results.iter().zip(fields) {
        // SAFETY: fields are inside of the returned struct, and aligned.
        left.extend(unsafe { left_in(result, room.as_ptr().cast::<u8>().add(at)) });
    }
    for (argument, start) in interface.arguments.iter().zip(starts) {
        if let Value::Memory(memory) = argument {
            // SAFETY: the buffer is live, unless the program freed it, which ends only this process.
            left.extend(memory.read(unsafe { std::slice::from_raw_parts(start as *const u8, memory.bytes) }));
        }
    }
    left.push(memory::is_clean().into());
    left
}
