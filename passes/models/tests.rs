//! Models in Rust: one that is right, and each way to be wrong, which is an error at the operation.

use super::*;
use melior::dialect::DialectRegistry;
use melior::dialect::arith;
use melior::ir::{AffineExpr, AffineMap, Location, Module, OperationRef, Value};
use melior::pass::PassManager;
use melior::{Context, utility};
use std::sync::Mutex;

/// `y[i] = start + sum over k of x[i, k]`, or what the name of a mistake says.
struct RowSums(&'static str);

impl LayoutOp for RowSums {
    fn loops<'c>(&self, op: OperationRef<'c, '_>) -> Result<Loops<'c>, String> {
        let context = upstream_context(op);
        let [i, k] = [0, 1].map(|dim| AffineExpr::dim(context, dim));
        let dims = if self.0 == "dims" { 3 } else { 2 };
        let read: &[AffineExpr] = match self.0 {
            "rank" => &[i],
            "extents" => &[k, i],
            _ => &[i, k],
        };
        let mut maps = vec![AffineMap::new(context, dims, 0, read), AffineMap::new(context, dims, 0, &[i])];
        if self.0 == "maps" {
            maps.pop();
        }
        if self.0 == "loops" {
            return Err("is only for matrices".to_owned());
        }
        let iterators = vec![IteratorType::Parallel, IteratorType::Reduction];
        let text = if self.0 == "initial" { "1 : i32" } else { "0.5 : f32" };
        let initial_values = vec![Attribute::parse(context, text)];
        Ok(Loops { iterators, maps, initial_values })
    }

    fn body<'c, 'b>(&self, op: OperationRef<'c, '_>, block: &'b Block<'c>) -> Result<Vec<Value<'c, 'b>>, String> {
        let location = Location::unknown(upstream_context(op));
        let argument = |k| block.argument(k).map(Value::from).map_err(|error| error.to_string());
        let mut sum = arith::addf(argument(1)?, argument(0)?, location);
        match self.0 {
            "body" => return Err("has no body".to_owned()),
            "panic" => panic!("a mistake"),
            "values" => return Ok(Vec::new()),
            "type" => {
                sum = arith::cmpf(upstream_context(op), arith::CmpfPredicate::Oeq, argument(0)?, argument(1)?, location)
            }
            _ => {}
        }
        Ok(vec![block.append_operation(sum).result(0).map_err(|error| error.to_string())?.into()])
    }

    fn expand<'c, 'b>(&self, _: OperationRef<'c, '_>, block: &'b Block<'c>) -> Result<Vec<Value<'c, 'b>>, String> {
        let operand = || block.argument(0).map(Value::from).map_err(|error| error.to_string());
        Ok(if self.0 == "result" { vec![operand()?] } else { Vec::new() })
    }

    fn layouts<'c>(&self, op: OperationRef<'c, '_>, value: usize) -> Vec<Attribute<'c>> {
        let text = "#layout.tiled<{2,1,0}>";
        let layout = || Attribute::parse(upstream_context(op), text).expect("a layout");
        if self.0 == "layout" && value == 0 { vec![layout()] } else { Vec::new() }
    }

    fn cost(&self, _: OperationRef) -> Option<i64> {
        (self.0 == "cost").then_some(-1)
    }
}

fn upstream_context<'c>(op: OperationRef<'c, '_>) -> &'c Context {
    layout_dialect::borrowed(&op.context())
}

/// Runs a pass on an operation with a model; returns the module and the errors.
fn run(mistake: &'static str, pass: &str) -> (String, Vec<String>) {
    let registry = DialectRegistry::new();
    utility::register_all_dialects(&registry);
    layout_dialect::register(&registry);
    let context = Context::new_with_registry(&registry, false);
    context.load_all_available_dialects();
    context.set_allow_unregistered_dialects(true);
    let name = format!("test.row_sums_{mistake}");
    register_model(&name, RowSums(mistake));
    let text = format!(
        "func.func @f(%x: tensor<4x6xf32>) -> tensor<4xf32> {{
            %y = \"{name}\"(%x) : (tensor<4x6xf32>) -> tensor<4xf32> loc(\"here\")
            return %y : tensor<4xf32>
        }}"
    );
    let mut module = Module::parse(&context, &text).expect("a module");
    let errors = Arc::new(Mutex::new(Vec::new()));
    let own = errors.clone();
    let handler = context.attach_diagnostic_handler(move |diagnostic| {
        own.lock().unwrap().push(format!("{}: {diagnostic}", diagnostic.location()));
        true
    });
    let manager = PassManager::new(&context);
    upstream::add_passes(manager.as_operation_pass_manager(), pass).unwrap();
    let done = manager.run(&mut module);
    context.detach_diagnostic_handler(handler);
    let errors = errors.lock().unwrap().clone();
    assert_eq!(done.is_ok(), errors.is_empty());
    (module.as_operation().to_string(), errors)
}

#[test]
fn loops_become_a_generic() {
    let (module, errors) = run("none", "layout-expand-operations");
    assert_eq!(errors, Vec::<String>::new());
    for part in ["arith.constant 5.000000e-01", "linalg.generic", "\"parallel\", \"reduction\"", "arith.addf %out, %in"]
    {
        assert!(module.contains(part), "{part}\n{module}");
    }
    assert!(!module.contains("test.row_sums"), "{module}");
}

#[test]
fn mistakes_are_errors_at_the_operation() {
    let cases = [
        ("dims", "expected one from 2 loops to 2 dimensions"),
        (
            "rank",
            "has the indexing map (d0, d1) -> (d0) for tensor<4x6xf32>, expected one from 2 loops to 2 dimensions",
        ),
        ("maps", "has 1 indexing maps, expected 2, one for each operand and result"),
        ("extents", "has a model that is no valid function"),
        ("loops", "'test.row_sums_loops' op is only for matrices"),
        ("initial", "has no initial value of type f32 for result 0"),
        ("body", "'test.row_sums_body' op has no body"),
        ("panic", "internal error"),
        ("values", "has a body of 0 values, expected 1"),
        ("type", "has a model that is no valid function"),
        ("result", "has a model whose result 0 is tensor<4x6xf32>, expected tensor<4xf32>"),
    ];
    for (mistake, expected) in cases {
        let (module, errors) = run(mistake, "layout-expand-operations");
        let found = errors.iter().any(|error| error.contains(expected));
        assert!(found, "{mistake}: expected {expected:?}, found {errors:#?}");
        assert!(mistake == "panic" || errors.iter().all(|error| error.contains("here")), "{mistake}: {errors:#?}");
        assert!(mistake == "panic" || module.contains("test.row_sums") && !module.contains("layout.model"), "{module}");
    }
}

#[cfg(feature = "plan")]
#[test]
fn layouts_and_costs_are_checked() {
    for (mistake, expected) in
        [("layout", "has a model with the layout #layout.tiled<{2,1,0}>"), ("cost", "has the cost -1")]
    {
        let (_, errors) = run(mistake, "layout-plan{machine=tpu_v5e}");
        assert!(errors.iter().any(|error| error.contains(expected)), "{mistake}: {errors:#?}");
    }
}
