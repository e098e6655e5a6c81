//! An operation of this compiler that no dialect has: `y[i] = sum over k of x[i, k]`.
//!
//! With its model, layouts are planned for it, and it is analysed, verified and lowered.

use layout_passes::models::{IteratorType, LayoutOp, Loops, register_model};
use layout_passes::{Form, PipelineOptions, PlanMachine, PlanOptions, indexing_analysis, pipelines};
use layout_runtime::{Buffer, Engine, call};
use melior::{
    Context,
    dialect::arith,
    ir::{AffineExpr, AffineMap, Block, BlockLike, Location, Module, OperationRef, Value, operation::OperationLike},
    pass::PassManager,
};
use std::error::Error;

struct RowSums;

impl LayoutOp for RowSums {
    fn loops<'c>(&self, op: OperationRef<'c, '_>) -> Result<Loops<'c>, String> {
        let context = layout_dialect::borrowed(&op.context());
        let [i, k] = [0, 1].map(|dim| AffineExpr::dim(context, dim));
        Ok(Loops {
            iterators: vec![IteratorType::Parallel, IteratorType::Reduction],
            maps: vec![AffineMap::new(context, 2, 0, &[i, k]), AffineMap::new(context, 2, 0, &[i])],
            initial_values: Vec::new(),
        })
    }

    fn body<'c, 'b>(&self, op: OperationRef<'c, '_>, block: &'b Block<'c>) -> Result<Vec<Value<'c, 'b>>, String> {
        let element = |k| block.argument(k).map(Value::from).map_err(|error| error.to_string());
        let location = Location::unknown(layout_dialect::borrowed(&op.context()));
        let sum = block.append_operation(arith::addf(element(1)?, element(0)?, location));
        Ok(vec![sum.result(0).map_err(|error| error.to_string())?.into()])
    }
}

const PROGRAM: &str = r#"
func.func @sums(%x: tensor<3x5xf32>) -> tensor<3xf32> attributes {llvm.emit_c_interface} {
  %y = "mini.row_sums"(%x) : (tensor<3x5xf32>) -> tensor<3xf32>
  return %y : tensor<3xf32>
}"#;

/// Compiles a program with the operation, and calls it.
pub fn run(context: &Context) -> Result<(), Box<dyn Error>> {
    register_model("mini.row_sums", RowSums);
    let mut module = Module::parse(context, PROGRAM).ok_or("the program is not MLIR")?;
    for (operation, pairs) in indexing_analysis::analyse_below(module.as_operation()) {
        println!("{} reads {}", operation.name().as_string_ref().as_str()?, pairs[0][0].reads);
    }
    let plan = Some(PlanOptions { machine: PlanMachine::TpuV5e, ..PlanOptions::default() });
    let manager = PassManager::new(context);
    let options = PipelineOptions { plan, verify: true, ..Form::Strided.into() };
    pipelines::TO_LLVM.add_to(manager.as_operation_pass_manager(), options)?;
    manager.run(&mut module)?;

    let engine = Engine::new(&module, 2, &[])?;
    let numbers: Vec<f32> = (0..15).map(|n| n as f32).collect();
    let x = Buffer::of(&"f32[3,5]".parse()?, Form::Strided, &numbers)?;
    // SAFETY: the program gives the function these types.
    let y = unsafe { call(&engine, "sums", &[(&x).into()], &["f32[3]".parse()?], Form::Strided) }?.remove(0);
    println!("sums: {:?}", y.elements::<f32>()?);
    Ok(())
}
