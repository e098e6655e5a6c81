//! Named machines, as texts.

/// The machines. Capacities and rates of all but `tpu_v5e` and `cpu` are examples, to be replaced by those of the
/// actual machine.
///
/// The costs of `tpu_v5e` are fitted to the estimates of XLA's compiler for TPUs; `benches/targets.md` has the errors.
/// The costs of `cpu` are those of the vector code that lowering makes, measured by
/// `tools/bench.sh cpu-machine` on one core of a server.
///
/// `tpu_v5e_256` is a pod, from Google's page *TPU v5e*: 197 * 10^12 operations of bf16 a second, 819 GB/s of memory, a
/// torus of 16 * 16, and 1600 Gbit/s of a chip, a quarter for each of 4 links. The start of a collective, a
/// microsecond, is an assumption. [`pod`] has others.
pub const READY: [(&str, &str); 6] = [
    (
        "mn_core",
        "axes: (16_L2B, 8_L1B, 16_MAB, 4_PE), memories: (DRAM: 0 at L2B with 8589934592 bytes reading 64 writing 64, \
         LM: 1 at PE with 16384 bytes reading 16 writing 8), word: 64, unit: cycle, registers: 1x1, \
         links: (L2B: 64, L1B: 64, MAB: 16, PE: 8)",
    ),
    (
        "mn_core_2",
        "axes: (4x2_L2B, 8_L1B, 16_MAB, 4_PE), memories: (DRAM: 0 at L2B with 8589934592 bytes reading 64 writing 64, \
         LM: 1 at PE with 16384 bytes reading 16 writing 8), word: 64, unit: cycle, registers: 1x1, \
         links: (L2B: 64, L1B: 64, MAB: 16, PE: 8)",
    ),
    ("tpu_like", "axes: (), memories: (hbm: 0 with 17179869184 bytes, vmem: 1 with 16777216 bytes), word: 32"),
    // XLA leaves programs 15.75 of the 16 GiB.
    (
        "tpu_v5e",
        "axes: (), memories: (hbm: 0 with 16911433728 bytes reading 491.5 writing 491.5, \
         vmem: 1 with 134217728 bytes reading 491.5), word: 32, \
         unit: cycle, registers: 8x128, layouts: tiles, \
         costs: (kernel: 77.978, window: 1738, window_bytes: 7673267.327, lone_window_bytes: 5500000, \
         lone_window_tiles: 129.28, packed_tile: 8.6, packed_part_tile: 5.812, reduced_tile: 8.701, \
         computed_tile: 0.474, spread_tile: 7.573, padded_tile: 1.514, reordered_tile: 0.038, copy: 256.768, \
         copy_window: 1560, near_copy: 20.539, copy_tile: 0.379, sublane_tile: 0.353, transpose_window: 100, \
         transpose_window_far: 1800, transpose_window_tiles: 770.304, transpose_tile: 8.333, \
         product: 308.116, product_operands: 1768.525, product_results: 326.085, product_window: 1460.303, \
         product_window_size: 9808.655, product_packed_tile: 8.335, product_reordered_tile: 4.7, \
         product_computed_tile: 0.107, pass: 1.936, narrow_pass: 0.994, turned_pass: 4.795, least_passes: 4, windowed_tile: 1.248, \
         scattered_tile: 8.3), \
         preferences: (dot: (k&m, k&n, m&n), convolution: (batch&feature, input&output, batch&feature), \
         gather: (offset&offset, batch, offset&offset), scatter: (offset&offset, batch, ), \
         sort: (each other sorted) or (sorted from 128 each other), matrix: ()), \
         doubt: (dot: 0.35, convolution: 0.54, gather: 0.45, scatter: 0.38, sort: 0.23, other: 0.1)",
    ),
    (
        "tpu_v5e_256",
        "axes: (16x16_Device), memories: (HBM: 0 at Device with 16911433728 bytes reading 0.819 writing 0.819), word: 32, \
         unit: picosecond, links: (Device: 0.05 torus), work: (Device: 197), costs: (collective: 1000000)",
    ),
    (
        "cpu",
        "axes: (), memories: (l1: 0 with 24576 bytes reading 0.28 writing 0.28, \
         l2: 0 with 524288 bytes reading 0.242 writing 0.242, l3: 0 with 8388608 bytes reading 0.122 writing 0.122, \
         ram: 0 with 17179869184 bytes reading 0.042 writing 0.042), word: 32, unit: picosecond, registers: 1x8, \
         costs: (kernel: 5879, copy: 5879, sublane_tile: 131, transpose_window: 5879, turned_reading: 2.1, \
         product: 5879, pass: 524, least_passes: 1, scattered_tile: 2593), \
         preferences: (convolution: (feature, output input, feature) or (batch, output input, batch) \
         or (spatial, output input, spatial), gather: (offset, batch, offset), scatter: (offset, batch, ), \
         matrix: ())",
    ),
];

/// The text of `tpu_v5e_N` with N chips: a power of two from 2 to 4096, as square as possible. Along a side shorter
/// than 16, lines have ends, as in a slice of a pod; no real machine is larger than a pod of 256.
pub fn pod(name: &str) -> Option<String> {
    let own = name.strip_prefix("tpu_v5e_")?;
    let count: i64 = own.parse().ok()?;
    if !(2..=4096).contains(&count) || count & (count - 1) != 0 || own != count.to_string() {
        return None;
    }
    let inner = 1i64 << (count.ilog2().div_ceil(2));
    let outer = count / inner;
    let (_, text) = READY.iter().find(|(known, _)| *known == "tpu_v5e_256")?;
    let sides = if outer > 1 { format!("{outer}x{inner}") } else { inner.to_string() };
    let joined = if outer < 16 { "grid" } else { "torus" };
    Some(text.replacen("16x16", &sides, 1).replacen("torus", joined, 1))
}
