//! MLIR's affine expressions and [`Expr`], the expressions of `tensor-layout`, each made from the other.
//!
//! `d0 floordiv 8 + s0 * 2` is an expression on both sides. Two things exist on one side only. [`Expr`] has minima and
//! maxima, which no affine expression has. MLIR multiplies by symbols and has `ceildiv`: products of two variables have no
//! [`Expr`], and `a ceildiv b` becomes `-(-a floordiv b)`.

use ::tensor_layout::expr::Expr;
use melior::Context;
use melior::ir::{AffineExpr, AffineMap};

/// The results of an affine map; variables are its dimensions, then its symbols. `None` if a product or a
/// divisor is not a constant.
pub fn exprs_of_map(map: AffineMap) -> Option<Vec<Expr>> {
    let variables: Vec<Expr> = (0..map.dim_count() + map.symbol_count()).map(Expr::Var).collect();
    exprs_at(map, &variables)
}

/// The results of an affine map with these expressions for its dimensions and symbols; `None` if a product or a
/// divisor is still not a constant.
pub fn exprs_at(map: AffineMap, operands: &[Expr]) -> Option<Vec<Expr>> {
    (0..map.result_count()).map(|k| expr_of(map.result(k).ok()?, map.dim_count(), operands)).collect()
}

/// An affine expression as an [`Expr`], with the operands for its `dims` dimensions and then its symbols.
pub fn expr_of(e: AffineExpr, dims: usize, operands: &[Expr]) -> Option<Expr> {
    if e.is_constant() {
        return Some(Expr::Const(e.constant_value()));
    }
    if e.is_dim() {
        return operands.get(e.dim_position()).cloned();
    }
    if e.is_symbol() {
        return operands.get(dims + e.symbol_position()).cloned();
    }
    let (a, b) = (expr_of(e.lhs(), dims, operands)?, expr_of(e.rhs(), dims, operands)?);
    if e.is_add() {
        return Some(a + b);
    }
    let (a, Expr::Const(b)) = (match (a, b) {
        (Expr::Const(a), b) if e.is_mul() => (b, Expr::Const(a)),
        both => both,
    }) else {
        return None;
    };
    match () {
        () if e.is_mul() => Some(a.times(b)),
        () if b <= 0 => None,
        () if e.is_floor_div() => Some(a.floor_div(b)),
        () if e.is_ceil_div() => Some(a.times(-1).floor_div(b).times(-1)),
        () => Some(a.modulo(b)),
    }
}

/// An [`Expr`] as an affine expression; `variable` maps its variables. `None` if the
/// expression has a minimum or maximum, which no affine expression has.
///
/// MLIR adds and multiplies coefficients without a check: see [`fits`].
pub fn affine_expr<'c>(
    context: &'c Context,
    e: &Expr,
    variable: &dyn Fn(usize) -> AffineExpr<'c>,
) -> Option<AffineExpr<'c>> {
    let of = |e: &Expr| affine_expr(context, e, variable);
    let constant = |c: i64| AffineExpr::constant(context, c);
    Some(match e {
        Expr::Const(c) => constant(*c),
        Expr::Var(v) => variable(*v),
        Expr::Add(a, b) => of(a)? + of(b)?,
        Expr::Mul(a, c) => of(a)? * constant(*c),
        Expr::FloorDiv(a, d) => AffineExpr::floor_div(of(a)?, constant(*d)),
        Expr::Mod(a, m) => AffineExpr::modulo(of(a)?, constant(*m)),
        Expr::Min(..) | Expr::Max(..) => return None,
    })
}

/// Whether an expression can be an affine expression: it has no minimum and no maximum, and [`fits`].
pub fn is_affine(e: &Expr) -> bool {
    fits(e) && !has_extremes(e)
}

/// Whether no coefficient overflows, however MLIR combines terms: it adds and multiplies them without a check.
pub fn fits(e: &Expr) -> bool {
    magnitude(e).is_some()
}

fn has_extremes(e: &Expr) -> bool {
    matches!(e, Expr::Min(..) | Expr::Max(..)) || e.operands().any(has_extremes)
}

/// A bound of the sum of all coefficients' magnitudes; `None` beyond 64 bits.
fn magnitude(e: &Expr) -> Option<i64> {
    match e {
        Expr::Const(c) => c.checked_abs(),
        Expr::Var(_) => Some(1),
        Expr::Add(a, b) => magnitude(a)?.checked_add(magnitude(b)?),
        Expr::Mul(a, c) => magnitude(a)?.checked_mul(c.checked_abs()?),
        // A factor that the divisor divides leaves with it.
        Expr::FloorDiv(a, d) => Some(magnitude(a)? / d + 1),
        Expr::Mod(a, m) => magnitude(a).map(|_| *m),
        Expr::Min(a, b) | Expr::Max(a, b) => Some(magnitude(a)?.max(magnitude(b)?)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ::tensor_layout::maps::{Indexing, IndexingMap};
    use fastrand::Rng;
    use melior::dialect::DialectRegistry;
    use melior::ir::r#type::MemRefType;
    use melior::ir::{Attribute, Type};

    /// Random text, with signs and parentheses wherever they may be.
    fn text(rng: &mut Rng, depth: u32) -> String {
        let mut text = String::new();
        for term in 0..rng.u32(1..=if depth == 0 { 1 } else { 3 }) {
            if term > 0 {
                text += if rng.bool() { " + " } else { " - " };
            }
            text += &operand(rng, depth);
            for _ in 0..rng.u32(0..3) {
                let op = ["*", "floordiv", "ceildiv", "mod"][rng.usize(0..4)];
                text += &format!(" {op} {}", rng.i64(1..10));
            }
        }
        text
    }

    fn operand(rng: &mut Rng, depth: u32) -> String {
        let sign = if rng.u8(0..3) == 0 { "-" } else { "" };
        match rng.u8(0..4) {
            0 if depth == 0 => format!("{sign}{}", rng.i64(0..20)),
            0 | 1 if depth > 0 => format!("{sign}({})", text(rng, depth - 1)),
            _ => format!("{sign}{}", ["d0", "d1", "d2"][rng.usize(0..3)]),
        }
    }

    /// The map of an `affine_map<..>`, as MLIR reads it: the layout of a memref.
    fn map_of<'c>(context: &'c Context, text: &str) -> AffineMap<'c> {
        let memref = Type::parse(context, &format!("memref<?x?x?xi8, affine_map<{text}>>"));
        MemRefType::try_from(memref.unwrap_or_else(|| panic!("{text}"))).unwrap().affine_map()
    }

    /// Checks that the same letters are the same function in `affine_map<..>` and in `#layout.indexing_map<..>`, and
    /// that the printed text of one is that function in the other.
    #[test]
    fn affine_maps_and_indexing_maps_read_alike() {
        const DOMAIN: &str = "domain: d0 in [-9, 9], d1 in [-9, 9], d2 in [-9, 9]";
        let registry = DialectRegistry::new();
        crate::register(&registry);
        let context = Context::new_with_registry(&registry, false);
        context.load_all_available_dialects();
        let mut rng = Rng::with_seed(4);
        for _ in 0..20_000 {
            let text = text(&mut rng, 3);
            let upstream = map_of(&context, &format!("(d0, d1, d2) -> ({text})"));
            let parse = |e: &str| IndexingMap::parse(&format!("(d0, d1, d2) -> ({e}), {DOMAIN}")).unwrap();
            let own = parse(&text);
            let (own_text, upstream_text) = (own.to_string(), upstream.to_string());
            let printed = &own_text[..own_text.find(", domain").unwrap()];
            let attribute = format!("#layout.indexing_map<(d0, d1, d2) -> ({text}), {DOMAIN}>");
            let attribute = Attribute::parse(&context, &attribute).unwrap_or_else(|| panic!("{attribute}"));
            let Some(Indexing::Map(held)) = crate::indexing_map(attribute) else { panic!("{attribute}") };
            let of = |map: AffineMap| exprs_of_map(map).unwrap();
            let across = IndexingMap::parse(&format!("{upstream_text}, {DOMAIN}")).unwrap();
            let readings = [of(upstream), held.results, of(map_of(&context, printed)), across.results];
            for _ in 0..20 {
                let point: Vec<i64> = (0..3).map(|_| rng.i64(-9..=9)).collect();
                for e in &readings {
                    assert_eq!(
                        e[0].evaluate(&point),
                        own.results[0].evaluate(&point),
                        "{text} is {printed} and {upstream_text}, at {point:?}"
                    );
                }
            }
        }
    }
}
