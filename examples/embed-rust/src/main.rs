//! A compiler in Rust that uses the layout dialect: it builds a function with melior, gives its tensors layouts,
//! queries the reads of its operations, lowers it, compiles it in this process and reads the result in its layout.
//!
//! The function is `y[j, i] = 2 * x[i, j]`. Inside, rows of `x` are spread over two processing elements; `y` comes back
//! in tiles of 2×2. `row_sums.rs` has an operation of the compiler's own.

mod row_sums;

use layout_passes::{Form, Pass, indexing_analysis, pipelines};
use layout_runtime::{Buffer, Engine, call};
use melior::{
    Context,
    dialect::{DialectRegistry, arith, func},
    ir::{
        AffineExpr, AffineMap, Attribute, Block, BlockLike, Identifier, Location, Module, Region, RegionLike, Type,
        Value,
        attribute::{ArrayAttribute, DenseI32ArrayAttribute, StringAttribute, TypeAttribute},
        operation::{OperationBuilder, OperationLike, OperationMutLike},
        r#type::{FunctionType, RankedTensorType},
    },
    pass::{PassManager, transform},
    utility,
};
use std::error::Error;
use tensor_layout::element::ElementType;
use tensor_layout::maps::{Indexing, IndexingMap};
use tensor_layout::operations::Array;
use tensor_layout::places::{Machine, TensorLayout};
use tensor_layout::tiled::{Expansion, Layout};

/// The sizes of `x`.
const SIZES: [u64; 2] = [3, 5];

fn main() -> Result<(), Box<dyn Error>> {
    let context = context();

    // Layouts and machines are values, with their arithmetic and errors at the byte at fault.
    let tiles = Layout::parse("{1,0:T(2,2)}")?;
    let rows = TensorLayout::parse("((2_PE, 2:5), (5:1))")?;
    let machine = Machine::parse("axes: (2_PE), memories: (LM: 1 at PE with 4096 bytes), word: 64")?;
    println!("error: {}", TensorLayout::parse("((2_PE, 2), (5:1))").unwrap_err());

    let mut module = build(&context, &tiles, &rows, &machine)?;
    assert!(module.as_operation().verify());
    println!("\n{}", module.as_operation());

    // A layout becomes an attribute and is read from one; its map as MLIR has it.
    let attribute = layout_dialect::tiled_attribute(&context, &tiles)?;
    assert_eq!(layout_dialect::tiled(attribute).as_ref(), Some(&tiles));
    println!("{attribute} is {}\n", layout_dialect::affine_map(attribute).ok_or("a layout has a map")?);

    // The reads of each operation; first comes the function, its results in terms of its arguments.
    let analysed = indexing_analysis::analyse_below(module.as_operation());
    for (operation, pairs) in &analysed {
        let name = operation.name();
        for (number, pair) in pairs[0].iter().enumerate() {
            println!("{} operand {number}: {}", name.as_string_ref().as_str()?, pair.reads);
        }
    }

    // The position of each element of `x` in the tiles of `y`: maps are values that invert, compose and simplify.
    let expansion = Expansion::new(&[5, 3], &tiles)?;
    let places = IndexingMap::of_sizes(expansion.logical_sizes(), expansion.exprs());
    let reads = Indexing::Map(analysed[0].1[0][0].reads.maps[0].map.clone());
    let holds = places.invert().ok_or("each place holds one element")?.then(&reads)?.simplify();
    let attribute = layout_dialect::indexing_map_attribute(&context, &holds)?;
    assert_eq!(layout_dialect::indexing_map(attribute), Some(holds));
    println!("\n{attribute}");

    lower(&context, &mut module)?;

    // `x` is row-major; `y` is 5×3 in tiles of 2×2, each part a dimension: 3 by 2 by 2 by 2.
    let engine = Engine::new(&module, 2, &[])?;
    let numbers: Vec<f32> = (0..15).map(|n| n as f32).collect();
    let x = Buffer::of(&"f32[3,5]".parse()?, Form::Strided, &numbers)?;
    let shapes = [Array::new(ElementType::F32, &[5, 3], tiles)?];
    // SAFETY: `build` gave the function these types.
    let y = unsafe { call(&engine, "double_transposed", &[(&x).into()], &shapes, Form::Strided) }?.remove(0);
    let memory = y.descriptor();
    println!("\ny has sizes {:?} and strides {:?}; in memory, padding as `.`:", memory.sizes(), memory.strides());

    print_tiles(y.bytes(), &expansion)?;

    let elements: Vec<f32> = y.elements()?;
    let mut wrong = 0;
    for (j, i) in (0..5).flat_map(|j| (0..3).map(move |i| (j, i))) {
        let expected = 2.0 * (i * 5 + j) as f32;
        wrong += usize::from(elements[j * 3 + i] != expected);
    }
    println!("{wrong} of 15 elements are wrong");
    row_sums::run(&context)
}

/// A context with all dialects, upstream's and ours.
fn context() -> Context {
    let registry = DialectRegistry::new();
    utility::register_all_dialects(&registry);
    layout_dialect::register(&registry);
    let context = Context::new_with_registry(&registry, false);
    context.load_all_available_dialects();
    context.set_allow_unregistered_dialects(true);
    utility::register_all_llvm_translations(&context);
    context
}

/// Passes and pipelines of ours beside upstream's, in one manager.
fn lower(context: &Context, module: &mut Module) -> Result<(), Box<dyn Error>> {
    let manager = PassManager::new(context);
    let passes = manager.as_operation_pass_manager();
    passes.add_pass(transform::create_canonicalizer());
    pipelines::TO_MEMREF.add_to(passes, Form::Strided)?;
    Pass::SimplifyIndexing.add_to(passes)?;
    pipelines::TO_LLVM.add_to(passes, Form::Strided)?;
    manager.run(module)?;
    Ok(())
}

/// Prints the tiles in the memory of `y`, two a line.
fn print_tiles(bytes: &[u8], expansion: &Expansion) -> Result<(), Box<dyn Error>> {
    for (tile, bytes) in bytes.chunks(4 * 4).enumerate() {
        print!("{}", if tile % 2 == 0 { "" } else { "  | " });
        for (k, number) in bytes.as_chunks().0.iter().enumerate() {
            // The padding of an allocation holds anything.
            match expansion.index((tile * 4 + k) as i64)? {
                Some(_) => print!("{:>4}", f32::from_le_bytes(*number)),
                None => print!("   ."),
            }
        }
        print!("{}", if tile % 2 == 0 { "" } else { "\n" });
    }
    Ok(())
}

/// `func.func @double_transposed(%x: tensor<3x5xf32>) -> tensor<5x3xf32, #tiles>`, in a module for the machine.
fn build<'c>(
    context: &'c Context,
    tiles: &Layout,
    rows: &TensorLayout,
    machine: &Machine,
) -> Result<Module<'c>, Box<dyn Error>> {
    let location = Location::unknown(context);
    let float = Type::float32(context);
    let [tiles, rows] =
        [layout_dialect::tiled_attribute(context, tiles)?, layout_dialect::tensor_layout_attribute(context, rows)?];
    let tensor = |sizes: &[u64], layout| -> Type<'c> { RankedTensorType::new(sizes, float, layout).into() };
    let (plain, spread) = (tensor(&SIZES, None), tensor(&SIZES, Some(rows)));
    let (transposed, tiled) = (tensor(&[5, 3], None), tensor(&[5, 3], Some(tiles)));

    let body = Block::new(&[(plain, location)]);
    let x = body.argument(0)?.into();
    let x = body.append_operation(layout_dialect::convert(x, spread, location)).result(0)?.into();
    let doubled = body.append_operation(arith::addf(x, x, location)).result(0)?.into();
    let empty = OperationBuilder::new("tensor.empty", location).add_results(&[transposed]).build()?;
    let empty = body.append_operation(empty).result(0)?.into();
    let y = body.append_operation(transpose(context, doubled, empty, transposed, location)?).result(0)?.into();
    let y = body.append_operation(layout_dialect::convert(y, tiled, location)).result(0)?.into();
    body.append_operation(func::r#return(&[y], location));

    let region = Region::new();
    region.append_block(body);
    let name = StringAttribute::new(context, "double_transposed");
    let r#type = TypeAttribute::new(FunctionType::new(context, &[plain], &[tiled]).into());
    let interface = (Identifier::new(context, "llvm.emit_c_interface"), Attribute::unit(context));
    let mut module = Module::new(location);
    module
        .as_operation_mut()
        .set_attribute(layout_dialect::MACHINE, layout_dialect::machine_attribute(context, machine)?);
    module.body().append_operation(func::func(context, name, r#type, region, &[interface], location));
    Ok(module)
}

/// `linalg.generic` that moves element `[i, j]` of `input` to `[j, i]` of `output`.
fn transpose<'c>(
    context: &'c Context,
    input: Value<'c, '_>,
    output: Value<'c, '_>,
    result: Type<'c>,
    location: Location<'c>,
) -> Result<melior::ir::Operation<'c>, melior::Error> {
    let float = Type::float32(context);
    let body = Block::new(&[(float, location), (float, location)]);
    let element = body.argument(0)?.into();
    body.append_operation(OperationBuilder::new("linalg.yield", location).add_operands(&[element]).build()?);
    let region = Region::new();
    region.append_block(body);

    let [d0, d1] = [0, 1].map(|dim| AffineExpr::dim(context, dim));
    let map = |results: [AffineExpr<'c>; 2]| {
        let text = format!("affine_map<{}>", AffineMap::new(context, 2, 0, &results));
        Attribute::parse(context, &text).expect("a map prints as it is read")
    };
    let maps = ArrayAttribute::new(context, &[map([d1, d0]), map([d0, d1])]);
    let parallel = Attribute::parse(context, "#linalg.iterator_type<parallel>").expect("an attribute of linalg");
    OperationBuilder::new("linalg.generic", location)
        .add_operands(&[input, output])
        .add_results(&[result])
        .add_attributes(&[
            (Identifier::new(context, "indexing_maps"), maps.into()),
            (Identifier::new(context, "iterator_types"), ArrayAttribute::new(context, &[parallel, parallel]).into()),
            (Identifier::new(context, "operandSegmentSizes"), DenseI32ArrayAttribute::new(context, &[1, 1]).into()),
        ])
        .add_regions([region])
        .build()
}
