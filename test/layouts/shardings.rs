//! Shardings as layouts: each element against the definition, over random meshes, shapes and layouts; refused texts
//! with their positions.

use crate::sample::Sample;
use layout_reference::boxes::{indices, steps};
use layout_reference::lines;
use layout_reference::places::along;
use std::collections::{BTreeMap, BTreeSet};
use tensor_layout::element::ElementType::F32;
use tensor_layout::notations::{Described, Notation, read, write};
use tensor_layout::places::{CollectiveKind, DigitExchange, IndexDigit, Machine, Placement, RelayoutStep, collectives};
use tensor_layout::tiled::{Expansion, Layout};

/// The devices of an element, and its address on each.
fn of_layout(described: &Described, index: &[i64]) -> (Vec<i64>, i64) {
    let meaning = described.meaning().unwrap();
    let place = meaning.map.evaluate(index).unwrap().unwrap();
    let mut devices = vec![0];
    for (copies, at) in meaning.copies.iter().zip(&place) {
        let copied = along(copies, *at).expect("copies on some devices");
        devices = devices.iter().flat_map(|device| copied.iter().map(move |copy| device + copy)).collect();
    }
    devices.sort_unstable();
    (devices, place[meaning.axes.len()])
}

/// The numbers below `count`, as an iota of sizes `from`, transposed.
fn iota(from: &[i64], order: &[usize]) -> Vec<i64> {
    let part = |dim: &usize| (from[*dim], from[dim + 1..].iter().product());
    steps(0, &order.iter().map(part).collect::<Vec<_>>())
}

fn list<N: ToString>(numbers: &[N]) -> String {
    numbers.iter().map(N::to_string).collect::<Vec<_>>().join(",")
}

/// Tile assignments of random meshes, as an iota and as a list.
#[test]
fn each_element_is_on_its_devices() {
    let (cases, seed) = Sample::from_env().random(3000, 0x5_4a2d);
    let mut random = fastrand::Rng::with_seed(seed);
    let (mut read_all, mut refused) = (0, 0);
    for _ in 0..cases {
        let rank = random.usize(1..4);
        let from: Vec<i64> = (0..random.usize(1..5)).map(|_| *random.choice(&[1i64, 2, 2, 3, 4]).unwrap()).collect();
        let mut order: Vec<usize> = (0..from.len()).collect();
        random.shuffle(&mut order);
        let devices = iota(&from, &order);
        // The factors of the device count, distributed over dimensions and copies.
        let copied = random.bool();
        let mut tiles = vec![1i64; rank + usize::from(copied)];
        for factor in order.iter().map(|dim| from[*dim]) {
            let own = random.usize(0..tiles.len());
            tiles[own] *= factor;
        }
        let sizes: Vec<i64> = (0..rank).map(|_| random.i64(1..14)).collect();
        let layout = match random.u8(0..3) {
            0 => Layout::row_major(rank),
            1 => Layout::parse(&format!("{{{}:T(4,2)}}", list(&(0..rank).rev().collect::<Vec<_>>()))).unwrap(),
            _ => Layout::parse(&format!("{{{}}}", list(&(0..rank).collect::<Vec<_>>()))).unwrap(),
        };
        let words = if copied { " last_tile_dim_replicate" } else { "" };
        let pattern = format!("[{}]T({})", list(&from), list(&order));
        let shape = format!("f32[{}]{layout}", list(&sizes));
        let texts = [format!("<={pattern}"), list(&devices)];
        let texts = texts.map(|devices| format!("{shape} sharding={{devices=[{}]{devices}{words}}}", list(&tiles)));
        let shards: Vec<i64> = sizes.iter().zip(&tiles).map(|(n, t)| (n + t - 1) / t).collect();
        let local = Expansion::new(&shards, &layout).unwrap();
        let copies = if copied { tiles[rank] } else { 1 };
        let found = texts.each_ref().map(|text| read(text));
        let [Ok(found), Ok(listed)] = found else {
            // Tiles that cut the factors of the mesh have no strided device order: both texts are refused.
            assert!(found.iter().all(Result::is_err), "{}", texts[0]);
            refused += 1;
            continue;
        };
        read_all += 1;
        for index in indices(&sizes) {
            let first = (0..rank).fold(0, |at, dim| at * tiles[dim] + index[dim] / shards[dim]) * copies;
            let mut expected: Vec<i64> = (first..first + copies).map(|k| devices[k as usize]).collect();
            expected.sort_unstable();
            let inside: Vec<i64> = index.iter().zip(&shards).map(|(i, n)| i % n).collect();
            let expected = (expected, local.offset(&inside).unwrap());
            assert_eq!(of_layout(&found, &index), expected, "{} at {index:?}", texts[0]);
            assert_eq!(of_layout(&listed, &index), expected, "{} at {index:?}", texts[1]);
        }
        // The written text is compared with its source; tiles that pad each part are written, too.
        let text = write(&found, Notation::Sharding, F32).unwrap_or_else(|error| panic!("{}: {error}", texts[0]));
        assert!(text.contains("sharding={"), "{text}");
        write(&found, Notation::Shardy, F32).unwrap_or_else(|error| panic!("{}: {error}", texts[0]));
    }
    assert!(read_all > cases / 2 && refused > cases / 60, "{read_all} read, {refused} refused");
}

/// Axes of a mesh and their parts become axes of the layout; HLO's text numbers devices row-major in the mesh.
#[test]
fn axes_of_a_mesh_are_axes_of_the_layout() {
    let to = |text: &str, notation| write(&read(text).unwrap(), notation, F32).map_err(|error| error.message);
    lines::check("layouts/shardings/axes.txt", "> ", |text, expected| {
        let notation: Notation = expected.split_once(' ').unwrap().0.parse().unwrap();
        let written = to(text, notation).unwrap();
        if notation == Notation::TensorLayout {
            let by_name = to(&written, Notation::Shardy).unwrap();
            assert_eq!(to(&by_name, Notation::TensorLayout).as_ref(), Ok(&written));
            let error = to(&written, Notation::Sharding).unwrap_err();
            assert!(error.contains("numbers devices along one axis, `Device`"), "{error}");
        }
        format!("{} {written}", notation.name())
    });
    // A tile of 8 rows on each device: 10 rows of 20 are padded to 16, in the middle of the array.
    let text = "f32[20,256]{1,0:T(8,128)} sharding={devices=[2,1]<=[2]}";
    let (devices, address) = of_layout(&read(text).unwrap(), &[10, 3]);
    assert_eq!((devices, address), (vec![1], 3));
    assert!(to(text, Notation::TensorLayout).is_err());
    assert_eq!(to(text, Notation::Sharding).as_deref(), Ok(text));
}

/// The devices of random meshes, whose axes cut dimensions in any order, in HLO's numbering.
#[test]
fn meshes_number_devices_row_major() {
    let mut random = fastrand::Rng::with_seed(0x3e5_4d1);
    for _ in 0..500 {
        let axes: Vec<i64> = (0..random.usize(1..4)).map(|_| *random.choice(&[1i64, 2, 3, 4]).unwrap()).collect();
        let mut order: Vec<usize> = (0..axes.len()).collect();
        random.shuffle(&mut order);
        let mut dims = [Vec::new(), Vec::new(), Vec::new()];
        order.iter().for_each(|axis| dims[random.usize(0..3)].push(*axis));
        let sizes = [random.i64(1..12), random.i64(1..12)];
        let name = |axis: &usize| format!("\"{}\"", ["x", "data_parallel", "Addr"][*axis]);
        let braces = |dim: &Vec<usize>| format!("{{{}}}", dim.iter().map(name).collect::<Vec<_>>().join(", "));
        let mesh = axes.iter().enumerate().map(|(axis, size)| format!("{}={size}", name(&axis)));
        let mesh = mesh.collect::<Vec<_>>().join(", ");
        let [rows, columns] = [braces(&dims[0]), braces(&dims[1])];
        let layout = random.choice(&["{1,0}", "{0,1:T(2,2)}"]).unwrap();
        let text = format!("f32[{}]{layout} #sdy.sharding<mesh<[{mesh}]>, [{rows}, {columns}]>", list(&sizes));
        let described = read(&text).unwrap_or_else(|error| panic!("{text}: {error}"));
        assert_eq!(write(&described, Notation::Shardy, F32).unwrap(), text);
        let numbered = read(&write(&described, Notation::Sharding, F32).unwrap()).unwrap();
        let count = |dim: &Vec<usize>| dim.iter().map(|axis| axes[*axis]).product::<i64>();
        let all: i64 = axes.iter().product();
        for index in indices(&sizes) {
            let is_there = |device: i64| {
                let at = |axis: usize| device / axes[axis + 1..].iter().product::<i64>() % axes[axis];
                (0..2).all(|dim| {
                    let shard = (sizes[dim] + count(&dims[dim]) - 1) / count(&dims[dim]);
                    dims[dim].iter().fold(0, |part, axis| part * axes[*axis] + at(*axis)) == index[dim] / shard
                })
            };
            let expected: Vec<i64> = (0..all).filter(|device| is_there(*device)).collect();
            let found = of_layout(&numbered, &index).0;
            // A fully replicated array names no axis.
            if numbered.meaning().unwrap().axes.is_empty() {
                assert_eq!(expected.len() as i64, all, "{text}");
            } else {
                assert_eq!(found, expected, "{text} at {index:?}");
            }
        }
    }
}

/// Devices on a machine whose outer axes have as many places: each element is on its devices, numbered row-major.
#[test]
fn devices_are_places_of_a_machine() {
    let mut random = fastrand::Rng::with_seed(0x9_ac3);
    let mut placed = 0;
    for _ in 0..500 {
        let from: Vec<i64> = (0..random.usize(1..4)).map(|_| *random.choice(&[2i64, 2, 3, 4]).unwrap()).collect();
        let devices: i64 = from.iter().product();
        let mut tiles = [1i64; 3];
        from.iter().for_each(|factor| tiles[random.usize(0..3)] *= factor);
        let mut order: Vec<usize> = (0..from.len()).collect();
        random.shuffle(&mut order);
        let text = format!(
            "f32[12,8] sharding={{devices=[{}]<=[{}]T({}) last_tile_dim_replicate}}",
            list(&tiles),
            list(&from),
            list(&order)
        );
        let axes = *random.choice(&[&[2i64, 4][..], &[4, 2], &[2, 2, 2], &[3, 2], &[2, 3], &[4, 4], &[2, 2]]).unwrap();
        let machine = axes.iter().enumerate().map(|(k, n)| format!("{n}_A{k}")).collect::<Vec<_>>().join(", ");
        let machine = Machine::parse(&format!("axes: ({machine}, 5_Core), memories: (), word: 64")).unwrap();
        let Ok(described) = read(&text) else { continue };
        let outer = (1..=axes.len()).find(|k| axes[..*k].iter().product::<i64>() >= devices);
        let axes = outer.map_or(axes, |k| &axes[..k]);
        let Ok(on_machine) = described.on_machine(&machine) else {
            // Factors of 2 always fit if the number of devices does.
            let fits = axes.iter().product::<i64>() == devices;
            assert!(!fits || from.iter().chain(axes).any(|n| *n == 3), "{text} on {axes:?}");
            continue;
        };
        assert_eq!(axes.iter().product::<i64>(), devices);
        placed += 1;
        let meaning = on_machine.meaning().unwrap();
        for index in indices(&[12, 8]) {
            let place = meaning.map.evaluate(&index).unwrap().unwrap();
            let mut found = vec![0];
            for (k, axis) in meaning.axes.iter().enumerate() {
                let number: usize = axis[1..].parse().unwrap();
                let minor: i64 = axes[number + 1..].iter().product();
                let copied = along(&meaning.copies[k], place[k]).expect("copies on some places");
                found = found.iter().flat_map(|device| copied.iter().map(move |at| device + at * minor)).collect();
            }
            // An axis without a name has copies at all places.
            for (k, extent) in axes.iter().enumerate().filter(|(k, _)| !meaning.axes.contains(&format!("A{k}"))) {
                let minor: i64 = axes[k + 1..].iter().product();
                found = found.into_iter().flat_map(|first| steps(first, &[(*extent, minor)])).collect();
            }
            found.sort_unstable();
            assert_eq!((found, place[meaning.axes.len()]), of_layout(&described, &index), "{text} at {index:?}");
        }
    }
    assert!(placed > 50, "{placed}");
}

/// A resharding between two meshes, or between a mesh and HLO's numbers, is one between their devices.
#[test]
fn meshes_are_compared_by_their_devices() {
    let moved = |from: &str, to: &str| {
        let sides = Described::on_common_devices(&read(from).unwrap(), &read(to).unwrap()).unwrap();
        let chain = collectives(&sides.0.placement().unwrap(), &sides.1.placement().unwrap()).unwrap().unwrap();
        chain.iter().map(|step| step.kind.name()).collect::<Vec<_>>()
    };
    let xy = r#"f32[8,6] #sdy.sharding<mesh<["x"=2, "y"=4]>, [{"x"}, {}]>"#;
    assert_eq!(moved(xy, r#"f32[8,6] #sdy.sharding<mesh<["y"=4, "x"=2]>, [{"x"}, {}]>"#), ["permute"]);
    assert_eq!(moved(xy, r#"f32[8,6] #sdy.sharding<mesh<["a"=2, "b"=4]>, [{"a"}, {}]>"#), [""; 0]);
    assert_eq!(moved(xy, "f32[8,6] sharding={devices=[2,1,4]<=[8] last_tile_dim_replicate}"), [""; 0]);
    assert_eq!(moved("f32[8,6] sharding={replicated}", xy), ["slice"]);
    assert_eq!(moved(xy, "((2_x, 4:6), (6:1); B@[4_y:1])"), [""; 0]);
}

#[test]
fn what_is_wrong_has_its_place() {
    lines::check("layouts/shardings/errors.txt", "! ", |text, _| lines::error(&read(text).unwrap_err()));
}

#[test]
fn what_no_sharding_can_say() {
    lines::check("layouts/shardings/refusals.txt", "! ", |text, expected| {
        let (notation, _) = expected.split_once(' ').unwrap();
        let error = write(&read(text).unwrap(), notation.parse().unwrap(), F32).unwrap_err();
        format!("{notation} {}", error.message)
    });
}

/// The device axes, majormost first, with their sizes.
type Mesh<'a> = &'a [(&'a str, i64)];

/// The places of a mesh, as coordinates along each axis.
fn places(mesh: Mesh) -> Vec<Vec<i64>> {
    indices(&mesh.iter().map(|axis| axis.1).collect::<Vec<_>>())
}

/// The elements at each place of a mesh, as sets of indices. Along an axis without a name, all places have them.
fn held(placement: &Placement, mesh: Mesh) -> Vec<BTreeSet<Vec<i64>>> {
    let is_at = |place: &[i64], first: &[i64]| {
        mesh.iter().zip(place).all(|((name, _), at)| {
            let Some(axis) = placement.axes().iter().position(|axis| axis == name) else { return true };
            along(&placement.copies(axis), first[axis]).is_none_or(|copies| copies.contains(at))
        })
    };
    let of_place = |place: Vec<i64>| {
        let all = indices(placement.sizes()).into_iter();
        all.filter(|index| is_at(&place, &placement.place(index).unwrap())).collect()
    };
    places(mesh).into_iter().map(of_place).collect()
}

/// Executes the chain of collectives between two texts place by place, and returns their kinds; `None` if there is no
/// chain. The result is the other sharding. The busiest place receives at most the elements that the step says, and
/// exactly these if sizes are even.
fn run_chain(texts: &[String; 2], mesh: Mesh, is_even: bool) -> Option<Vec<CollectiveKind>> {
    let read = texts.each_ref().map(|text| read(text).unwrap_or_else(|error| panic!("{text}: {error}")));
    let [from, to] = read.each_ref().map(|side| side.placement().unwrap());
    let chain = collectives(&from, &to).unwrap()?;
    let places = places(mesh);
    let mut now = held(&from, mesh);
    for step in &chain {
        let axis = |part: &DigitExchange| mesh.iter().position(|axis| axis.0 == part.axis).unwrap();
        for part in &step.along {
            assert!((part.extent - 1) * part.stride < mesh[axis(part)].1, "{texts:?}: {step:?}");
        }
        let digit = |place: usize, part: &DigitExchange| places[place][axis(part)] / part.stride % part.extent;
        let outside = |place: usize| {
            let mut rest = places[place].clone();
            step.along.iter().for_each(|part| rest[axis(part)] -= digit(place, part) * part.stride);
            rest
        };
        let group = |place: usize| (0..now.len()).filter(move |other| outside(*other) == outside(place));
        let is_here = |place: usize, index: &Vec<i64>| {
            let value = |d: IndexDigit| index[d.dim] / d.weight % d.extent;
            step.along.iter().all(|part| part.after.is_none_or(|d| value(d) == digit(place, part)))
        };
        let next: Vec<BTreeSet<Vec<i64>>> = (0..now.len())
            .map(|place| {
                let all = group(place).flat_map(|other| now[other].iter().cloned());
                all.filter(|index| is_here(place, index)).collect()
            })
            .collect();
        let mut most = 0;
        for place in 0..now.len() {
            let received = next[place].difference(&now[place]).count() as i64;
            most = most.max(received);
            assert!(
                match step.kind {
                    CollectiveKind::Slice => received == 0 && (!is_even || next[place].len() < now[place].len()),
                    CollectiveKind::Permute => group(place).any(|other| now[other] == next[place]),
                    CollectiveKind::AllToAll => !is_even || next[place].len() == now[place].len(),
                    CollectiveKind::AllGather => next[place].is_superset(&now[place]),
                    _ => false,
                },
                "{texts:?}: {step:?}"
            );
        }
        match step.kind {
            CollectiveKind::Permute => {
                assert!((0 < most || !is_even) && most <= step.received, "{texts:?}: {most} of {step:?}")
            }
            _ if !is_even => assert!(most <= step.received, "{texts:?}: {most} of {step:?}"),
            _ => assert_eq!(most, step.received, "{texts:?}: {step:?}"),
        }
        now = next;
    }
    assert!(now == held(&to, mesh), "{texts:?}: {chain:?}");
    Some(chain.iter().map(|step| step.kind).collect())
}

/// Counts over many chains.
#[derive(Default)]
struct Found {
    kinds: BTreeMap<&'static str, usize>,
    none: usize,
}

impl Found {
    fn add(&mut self, chain: Option<Vec<CollectiveKind>>) {
        self.none += usize::from(chain.is_none());
        chain.iter().flatten().for_each(|kind| *self.kinds.entry(kind.name()).or_default() += 1);
    }

    /// Checks that each kind is in many chains, and that few pairs have no chain.
    fn check(&self, none: usize) {
        let Found { kinds, none: found } = self;
        assert!(
            kinds.len() == 4 && kinds.values().all(|count| *count > 30) && *found < none,
            "{kinds:?}, {found} without a chain"
        );
    }
}

/// Sizes of two dimensions, divisible by `devices` or not, or so small that devices have no elements.
fn divided_sizes(random: &mut fastrand::Rng, devices: i64) -> (bool, [i64; 2]) {
    match random.u8(0..3) {
        0 => (true, [devices * random.i64(1..3), devices]),
        1 => (false, [random.i64(1..12), random.i64(1..9)]),
        _ => (false, [random.i64(1..4), random.i64(1..4)]),
    }
}

#[test]
fn chains_of_collectives_end_where_they_should() {
    let mut random = fastrand::Rng::with_seed(0xc_4a1d);
    let mut found = Found::default();
    for _ in 0..1800 {
        let from = *random.choice(&[&[2i64, 2][..], &[2, 4], &[2, 2, 2], &[3, 2], &[2, 3], &[4], &[3]]).unwrap();
        let devices: i64 = from.iter().product();
        let (is_even, sizes) = divided_sizes(&mut random, devices);
        let mut side = || {
            let shape = format!("f32[{}]", list(&sizes));
            if random.u8(0..6) == 0 {
                return format!("{shape} sharding={{replicated}}");
            }
            let mut order: Vec<usize> = (0..from.len()).collect();
            random.shuffle(&mut order);
            // Two dimensions, and with three tiles also copies.
            let tile_count = random.usize(2..4);
            let mut tiles = vec![1i64; tile_count];
            let mut last = 0;
            for dim in &order {
                // In the order of the tiles, so that each consists of whole parts of the mesh.
                last = random.usize(last..tile_count);
                tiles[last] *= from[*dim];
            }
            let copied = if tile_count == 3 { " last_tile_dim_replicate" } else { "" };
            format!("{shape} sharding={{devices=[{}]<=[{}]T({}){copied}}}", list(&tiles), list(from), list(&order))
        };
        found.add(run_chain(&[side(), side()], &[("Device", devices)], is_even));
    }
    found.check(400);
}

/// Dimensions along one or several axes of a mesh, with axes that the sharding does not name.
#[test]
fn chains_along_axes_of_a_mesh_end_where_they_should() {
    let mut random = fastrand::Rng::with_seed(0xa_7e5);
    let mut found = Found::default();
    for _ in 0..600 {
        let sizes: Vec<i64> = (0..random.usize(1..4)).map(|_| random.i64(2..4)).collect();
        let names = ["x", "y", "z"];
        let mesh: Vec<(&str, i64)> = names.iter().copied().zip(sizes.iter().copied()).collect();
        let (is_even, shape) = divided_sizes(&mut random, sizes.iter().product());
        let axes = mesh.iter().map(|(name, size)| format!("\"{name}\"={size}")).collect::<Vec<_>>().join(", ");
        let mut side = || {
            let mut order: Vec<usize> = (0..mesh.len()).collect();
            random.shuffle(&mut order);
            let mut dims = [Vec::new(), Vec::new(), Vec::new()];
            order.iter().for_each(|axis| dims[random.usize(0..3)].push(format!("\"{}\"", names[*axis])));
            format!(
                "f32[{}] #sdy.sharding<mesh<[{axes}]>, [{{{}}}, {{{}}}]>",
                list(&shape),
                dims[0].join(", "),
                dims[1].join(", ")
            )
        };
        found.add(run_chain(&[side(), side()], &mesh, is_even));
    }
    found.check(300);
}

/// Devices without elements receive the other sharding's whole piece.
#[test]
fn chains_reach_devices_without_elements() {
    let received = |from: &str, to: &str| {
        let side = |sharding: &str| read(&format!("f32{sharding}")).unwrap();
        let [a, b] = [side(from), side(to)].map(|side| side.placement().unwrap());
        let chain = collectives(&a, &b).unwrap().unwrap();
        let along = |part: &DigitExchange| format!("{}_{}:{}", part.extent, part.axis, part.stride);
        let step = |step: &RelayoutStep| {
            let along: Vec<String> = step.along.iter().map(along).collect();
            format!("{} {} {}", step.kind.name(), along.join(" "), step.received)
        };
        chain.iter().map(step).collect::<Vec<_>>().join(", ")
    };
    for (from, to, chain) in [
        ("[2] sharding={devices=[4]<=[4]}", "[2] sharding={replicated}", "all-gather 4_Device:1 2"),
        ("[1] sharding={devices=[2]<=[2]}", "[1] sharding={replicated}", "all-gather 2_Device:1 1"),
        ("[6] sharding={devices=[4]<=[4]}", "[6] sharding={replicated}", "all-gather 4_Device:1 6"),
        ("[2] sharding={replicated}", "[2] sharding={devices=[4]<=[4]}", "slice 4_Device:1 0"),
        (
            "[2] sharding={devices=[4]<=[4]}",
            "[2] sharding={devices=[2,2]<=[4] last_tile_dim_replicate}",
            "permute 2_Device:1 2_Device:2 1, all-gather 2_Device:1 1",
        ),
        (
            r#"[2] #sdy.sharding<mesh<["x"=2, "y"=4]>, [{"x", "y"}]>"#,
            r#"[2] #sdy.sharding<mesh<["x"=2, "y"=4]>, [{}]>"#,
            "all-gather 2_x:1 4_y:1 2",
        ),
    ] {
        assert_eq!(received(from, to), chain, "{from} {to}");
    }
}
