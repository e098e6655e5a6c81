//! Runtime functions of imported exchanges, for devices that are threads of this process.
//!
//! Each thread registers its device. In every exchange all devices publish their operands, wait for each other, read
//! what they receive, and wait again.

use std::cell::RefCell;
use std::sync::{Arc, Barrier, Mutex};

/// A buffer of run-time rank, as in MLIR's C interface.
#[repr(C)]
pub struct Unranked {
    rank: i64,
    /// Two pointers, an offset, sizes and strides; row-major.
    words: *const i64,
}

/// The published data of a device: its operand, and for a ragged exchange the lists of offsets and sizes.
#[derive(Clone, Copy)]
struct Shown {
    operand: Buffer,
    lists: [Option<Buffer>; 3],
}

#[derive(Clone, Copy)]
struct Buffer {
    start: usize,
    sizes: [i64; 4],
    rank: usize,
}

/// The devices.
pub struct World {
    shown: Mutex<Vec<Option<Shown>>>,
    all: Barrier,
}

impl World {
    pub fn new(devices: usize) -> Arc<World> {
        Arc::new(World { shown: Mutex::new(vec![None; devices]), all: Barrier::new(devices) })
    }
}

/// The device of a thread: the world, its number, and the partitions of a replica.
#[derive(Clone)]
pub struct Device {
    pub world: Arc<World>,
    pub number: usize,
    pub partitions: usize,
}

thread_local! {
    static DEVICE: RefCell<Option<Device>> = const { RefCell::new(None) };
}

/// Registers this thread as a device.
pub fn enter(device: Device) {
    DEVICE.with_borrow_mut(|own| *own = Some(device));
}

fn device() -> Device {
    DEVICE.with_borrow(Clone::clone).expect("a thread that is a device")
}

impl Buffer {
    /// # Safety
    /// `buffer` must be a descriptor of a row-major buffer.
    unsafe fn of(buffer: *const Unranked) -> Buffer {
        // SAFETY: required of the caller.
        unsafe {
            let Unranked { rank, words } = *buffer;
            let rank = rank as usize;
            assert_eq!(*words.add(2), 0, "the offset");
            let mut sizes = [1; 4];
            (0..rank).for_each(|k| sizes[k] = *words.add(3 + k));
            Buffer { start: *words.add(1) as usize, sizes, rank }
        }
    }

    fn count(&self) -> usize {
        self.sizes.iter().product::<i64>() as usize
    }

    /// # Safety
    /// The elements must be of this type, and nobody may write them.
    unsafe fn read<'a, T>(&self) -> &'a [T] {
        // SAFETY: required of the caller.
        unsafe { std::slice::from_raw_parts(self.start as *const T, self.count()) }
    }

    /// # Safety
    /// The elements must be of this type, without any other access.
    unsafe fn write<'a, T>(&self) -> &'a mut [T] {
        // SAFETY: required of the caller.
        unsafe { std::slice::from_raw_parts_mut(self.start as *mut T, self.count()) }
    }

    /// The number of elements before a dimension, in it, and after it.
    fn around(&self, dim: i64) -> [usize; 3] {
        let dim = dim as usize;
        assert!(dim < self.rank, "dimension {dim} of {}", self.rank);
        let product = |sizes: &[i64]| sizes.iter().product::<i64>() as usize;
        [product(&self.sizes[..dim]), self.sizes[dim] as usize, product(&self.sizes[dim + 1..])]
    }
}

/// Publishes the operand, and calls back with the published data of a thread's group, and the thread's position in it;
/// without a group, with nothing.
///
/// # Safety
/// Descriptors must be of buffers that live until this returns.
unsafe fn exchange(
    operand: *const Unranked,
    lists: [Option<*const Unranked>; 3],
    groups: *const Unranked,
    take: impl FnOnce(&[Vec<i64>], usize, &dyn Fn(i64) -> Shown),
) {
    let own = device();
    // SAFETY: required of the caller.
    let (operand, lists, table) =
        unsafe { (Buffer::of(operand), lists.map(|list| list.map(|list| Buffer::of(list))), Buffer::of(groups)) };
    // SAFETY: groups are 64-bit numbers without writers.
    let numbers = unsafe { table.read::<i64>() };
    let rows = numbers.chunks(table.sizes[1].max(1) as usize);
    let groups: Vec<Vec<i64>> = rows.map(|row| row.iter().copied().filter(|n| *n >= 0).collect()).collect();
    own.world.shown.lock().expect("no panic")[own.number] = Some(Shown { operand, lists });
    own.world.all.wait();
    let shown = own.world.shown.lock().expect("no panic").clone();
    take(&groups, own.number, &|device| shown[device as usize].expect("what it shows"));
    own.world.all.wait();
}

/// The thread's group and its position there.
fn group(groups: &[Vec<i64>], me: usize) -> Option<(&Vec<i64>, usize)> {
    groups.iter().find_map(|group| Some((group, group.iter().position(|device| *device == me as i64)?)))
}

/// Concatenates a part of each operand of the group along a dimension. `start` maps the number of a row of the part,
/// the sizes of a part and of the whole row, and this device's position to the row's start in an operand.
unsafe fn put_together<T: Copy>(
    [i, o, g]: [*const Unranked; 3],
    dim: i64,
    start: impl Fn(usize, [usize; 2], usize) -> usize,
) {
    // SAFETY: imported programs pass buffers of these elements, and outputs without aliases.
    unsafe {
        let out = Buffer::of(o);
        let [before, size, behind] = out.around(dim);
        exchange(i, [None; 3], g, |groups, me, shown| {
            let (group, place) = group(groups, me).expect("a group");
            let (part, line) = (size / group.len() * behind, size * behind);
            for (k, device) in group.iter().enumerate() {
                let from = shown(*device).operand.read::<T>();
                for row in 0..before {
                    let read = start(row, [part, line], place);
                    out.write::<T>()[row * line + k * part..][..part].copy_from_slice(&from[read..][..part]);
                }
            }
        });
    }
}

/// Concatenates the group's operands along a dimension.
unsafe extern "C" fn all_gather<T: Copy>(i: *const Unranked, o: *const Unranked, dim: i64, g: *const Unranked, _: i64) {
    // SAFETY: as in `put_together`.
    unsafe { put_together::<T>([i, o, g], dim, |row, [part, _], _| row * part) }
}

/// Reduces the group's operands, as a whole or only this device's part along a dimension.
unsafe fn reduced<T: Copy>([i, o, g]: [*const Unranked; 3], dim: Option<i64>, combine: impl Fn(T, T) -> T) {
    // SAFETY: as in `put_together`.
    unsafe {
        let (from, out) = (Buffer::of(i), Buffer::of(o));
        exchange(i, [None; 3], g, |groups, me, shown| {
            let (group, place) = group(groups, me).expect("a group");
            let [_, size, behind] = dim.map_or([1, 1, from.count()], |dim| from.around(dim));
            let parts = if dim.is_some() { group.len() } else { 1 };
            let part = size / parts * behind;
            for (n, value) in out.write::<T>().iter_mut().enumerate() {
                let at = n / part * size * behind + if parts == 1 { 0 } else { place * part } + n % part;
                let all = group.iter().map(|device| shown(*device).operand.read::<T>()[at]);
                *value = all.reduce(&combine).expect("a device");
            }
        });
    }
}

unsafe extern "C" fn all_reduce_add_f32(i: *const Unranked, o: *const Unranked, _: i64, g: *const Unranked, _: i64) {
    // SAFETY: as in `put_together`.
    unsafe { reduced::<f32>([i, o, g], None, |a, b| a + b) }
}

unsafe extern "C" fn all_reduce_add_s32(i: *const Unranked, o: *const Unranked, _: i64, g: *const Unranked, _: i64) {
    // SAFETY: as in `put_together`.
    unsafe { reduced::<i32>([i, o, g], None, i32::wrapping_add) }
}

unsafe extern "C" fn all_reduce_maximum_f32(
    i: *const Unranked,
    o: *const Unranked,
    _: i64,
    g: *const Unranked,
    _: i64,
) {
    // SAFETY: as in `put_together`.
    unsafe { reduced::<f32>([i, o, g], None, f32::max) }
}

unsafe extern "C" fn reduce_scatter_add_f32(
    i: *const Unranked,
    o: *const Unranked,
    dim: i64,
    g: *const Unranked,
    _: i64,
) {
    // SAFETY: as in `put_together`.
    unsafe { reduced::<f32>([i, o, g], Some(dim), |a, b| a + b) }
}

/// Part `k` along a dimension is this device's part of the `k`-th operand.
unsafe extern "C" fn all_to_all<T: Copy>(i: *const Unranked, o: *const Unranked, dim: i64, g: *const Unranked, _: i64) {
    // SAFETY: as in `put_together`.
    unsafe { put_together::<T>([i, o, g], dim, |row, [part, line], place| row * line + place * part) }
}

/// Copies the operand of `from`, or zeros without it.
unsafe fn copied<T: Copy + Default>(out: Buffer, from: Option<Shown>) {
    // SAFETY: as in `put_together`.
    unsafe {
        match from {
            Some(from) => out.write::<T>().copy_from_slice(from.operand.read()),
            None => out.write::<T>().fill(T::default()),
        }
    }
}

unsafe extern "C" fn collective_permute<T: Copy + Default>(
    i: *const Unranked,
    o: *const Unranked,
    _: i64,
    g: *const Unranked,
    _: i64,
) {
    // SAFETY: as in `put_together`.
    unsafe {
        exchange(i, [None; 3], g, |pairs, me, shown| {
            let source = pairs.iter().find(|pair| pair[1] == me as i64);
            copied::<T>(Buffer::of(o), source.map(|pair| shown(pair[0])));
        });
    }
}

unsafe extern "C" fn collective_broadcast<T: Copy + Default>(
    i: *const Unranked,
    o: *const Unranked,
    _: i64,
    g: *const Unranked,
    _: i64,
) {
    // SAFETY: as in `put_together`.
    unsafe {
        exchange(i, [None; 3], g, |groups, me, shown| {
            copied::<T>(Buffer::of(o), group(groups, me).map(|(group, _)| shown(group[0])));
        });
    }
}

/// Copies rows of each device's operand from an offset, in the number that it sends, to an offset in the output.
unsafe extern "C" fn ragged_all_to_all<T: Copy>(
    i: *const Unranked,
    o: *const Unranked,
    from: *const Unranked,
    count: *const Unranked,
    to: *const Unranked,
    _: *const Unranked,
    _: i64,
    g: *const Unranked,
    _: i64,
) {
    // SAFETY: as in `put_together`.
    unsafe {
        let out = Buffer::of(o);
        let row = out.sizes[1..].iter().product::<i64>() as usize;
        exchange(i, [Some(from), Some(count), Some(to)], g, |groups, me, shown| {
            let (group, place) = group(groups, me).expect("a group");
            for shown in group.iter().map(|device| shown(*device)) {
                let lists = shown.lists.map(|list| list.expect("a list").read::<i64>());
                let each = lists[0].len() / group.len();
                for k in place * each..(place + 1) * each {
                    let [from, count, to] = lists.map(|list| list[k] as usize * row);
                    out.write::<T>()[to..to + count].copy_from_slice(&shown.operand.read()[from..from + count]);
                }
            }
        });
    }
}

extern "C" fn partition_id() -> i32 {
    let own = device();
    (own.number % own.partitions) as i32
}

extern "C" fn replica_id() -> i32 {
    let own = device();
    (own.number / own.partitions) as i32
}

/// The functions with their symbol names.
pub fn symbols() -> Vec<(&'static str, *mut ())> {
    macro_rules! list {
        ($($name:literal: $function:expr,)*) => { vec![$((concat!("_mlir_ciface_", $name), $function as *mut ())),*] };
    }
    list! {
        "all_gather_f32": all_gather::<f32>,
        "all_gather_s32": all_gather::<i32>,
        "all_reduce_add_f32": all_reduce_add_f32,
        "all_reduce_add_s32": all_reduce_add_s32,
        "all_reduce_maximum_f32": all_reduce_maximum_f32,
        "reduce_scatter_add_f32": reduce_scatter_add_f32,
        "all_to_all_f32": all_to_all::<f32>,
        "all_to_all_s32": all_to_all::<i32>,
        "collective_permute_f32": collective_permute::<f32>,
        "collective_permute_s32": collective_permute::<i32>,
        "collective_broadcast_s32": collective_broadcast::<i32>,
        "ragged_all_to_all_s32": ragged_all_to_all::<i32>,
        "partition_id": partition_id,
        "replica_id": replica_id,
    }
}
