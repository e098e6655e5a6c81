//! Operations whose result elements each depend on many elements: of a line, a window, a feature, a matrix.

use super::site::{Found, Site, Types};
use super::windows::window;
use crate::element::ElementType;
use crate::hlo::shapes::{array, plain};
use crate::operations::operation::{Algorithm, Fourier, Operation};
use crate::operations::shape::{Array, Dim, Shape};
use crate::operations::sizes::Sizes;
use crate::text::Error;

/// Checks an algorithm against operands and result.
fn checked(site: &Site, algorithm: Algorithm, types: &Types) -> Found {
    site.checked(Operation::Algorithm(Box::new(algorithm)), types)
}

/// The element types of all operands.
fn elements(site: &Site) -> Result<Vec<ElementType>, Error> {
    (0..site.operands.len()).map(|k| site.element(k)).collect()
}

/// Operands of the same sizes are sorted along a dimension by a comparison of their elements.
pub fn sort(site: &mut Site) -> Found {
    let operands = elements(site)?;
    let dim = site.dim("dim", "dimensions")?;
    let pairs: Vec<ElementType> = operands.iter().flat_map(|element| [*element; 2]).collect();
    let found = checked(site, Algorithm::Sort { dim }, &Types { results: operands.clone(), operands })?;
    site.region("to_apply", 0, &pairs, &[ElementType::Pred])?;
    Ok(found)
}

/// `k` is the number of elements of each line in the result.
pub fn top_k(site: &mut Site) -> Found {
    let element = site.class(0)?;
    site.need("k", "number")?;
    let k = site.number("k", "k", 0)?;
    checked(site, Algorithm::TopK { k }, &Types { operands: vec![element], results: vec![element, ElementType::S32] })
}

/// A call of XLA's top-k, if the operand and the result have its shapes: `k` is the last size of the result.
pub fn top_k_call(site: &Site) -> Option<Operation> {
    let ([Shape::Array(operand)], Some(Shape::Tuple(parts))) = (&site.operands[..], site.written) else { return None };
    let Some(Shape::Array(largest)) = parts.first() else { return None };
    let k = largest.dims.last()?.bound()?;
    let types = Types { operands: vec![operand.element], results: vec![operand.element, ElementType::S32] };
    checked(site, Algorithm::TopK { k }, &types).ok()
}

/// One computation selects an element in each window of the first operand; another adds the second operand's there.
pub fn select_and_scatter(site: &mut Site) -> Found {
    let element = site.element(0)?;
    (1..3).try_for_each(|k| site.array(k).map(|_| ()))?;
    let window = window(site, site.sizes(0)?.rank())?;
    let types = Types { operands: vec![element; 3], results: vec![element] };
    let found = checked(site, Algorithm::SelectAndScatter { window }, &types)?;
    site.region("select", 0, &[element; 2], &[ElementType::Pred])?;
    site.reducer("scatter", 1, &[element])?;
    Ok(found)
}

/// `feature_index` and `epsilon` of a normalisation; all its arrays have one type.
fn batch_norm(site: &mut Site, results: usize, algorithm: fn(usize) -> Algorithm) -> Found {
    let operands = elements(site)?;
    let element = operands[0];
    if !element.is_float() {
        return Err(site.operand_must(0, "have elements of floats"));
    }
    site.need("epsilon", "number")?;
    let feature = site.index("feature", "feature_index", "dimension")?;
    let types = Types { operands: vec![element; operands.len()], results: vec![element; results] };
    checked(site, algorithm(feature), &types)
}

/// The operands are data, scale and offset.
pub fn batch_norm_training(site: &mut Site) -> Found {
    batch_norm(site, 3, |feature| Algorithm::BatchNormTraining { feature })
}

/// The operands are data, scale, offset, mean and variance.
pub fn batch_norm_inference(site: &mut Site) -> Found {
    batch_norm(site, 1, |feature| Algorithm::BatchNormInference { feature })
}

/// The operands are data, scale, mean, variance and the gradient of the result.
pub fn batch_norm_grad(site: &mut Site) -> Found {
    batch_norm(site, 3, |feature| Algorithm::BatchNormGrad { feature })
}

/// `fft_type` is one of four, `fft_length` has the lengths of the last dimensions.
pub fn fft(site: &mut Site) -> Found {
    const KINDS: [(&str, Fourier); 4] = [
        ("FFT", Fourier::Forward),
        ("IFFT", Fourier::Inverse),
        ("RFFT", Fourier::Real),
        ("IRFFT", Fourier::InverseReal),
    ];
    let element = site.class(0)?;
    let text = site.need("fft_type", "FFT")?.text;
    let Some((_, kind)) = KINDS.into_iter().find(|(name, _)| *name == text) else {
        let (names, found) = (KINDS.map(|(name, _)| name).join(", "), site.excerpt("fft_type"));
        return Err(site.attribute_must("fft_type", format!("be one of {names}, found {found}")));
    };
    let wide = matches!(element, ElementType::F64 | ElementType::C128);
    let (real, complex) =
        if wide { (ElementType::F64, ElementType::C128) } else { (ElementType::F32, ElementType::C64) };
    let (from, to) = match kind {
        Fourier::Forward | Fourier::Inverse => (complex, complex),
        Fourier::Real => (real, complex),
        Fourier::InverseReal => (complex, real),
    };
    site.need("fft_length", "{lengths}")?;
    let lengths = site.list("lengths", "fft_length")?;
    checked(site, Algorithm::Fft { kind, lengths }, &Types { operands: vec![from], results: vec![to] })
}

/// `name=true` or `name=false`, false if absent.
pub(super) fn flag(site: &Site, name: &str) -> Result<bool, Error> {
    match site.attribute(name).map(|attribute| attribute.text) {
        None | Some("false") => Ok(false),
        Some("true") => Ok(true),
        _ => Err(site.attribute_must(name, format!("be true or false, found {}", site.excerpt(name)))),
    }
}

/// `lower` selects the triangle that is read and written.
pub fn cholesky(site: &mut Site) -> Found {
    let element = site.class(0)?;
    let lower = flag(site, "lower")?;
    checked(site, Algorithm::Cholesky { lower }, &Types { operands: vec![element], results: vec![element] })
}

/// The letter of a LAPACK option, from its code: `uplo = 76 : ui8` in `backend_config`.
fn letter(site: &Site, name: &str) -> Option<char> {
    let text = site.attribute("backend_config")?.text.strip_prefix('{')?.strip_suffix('}')?;
    let entries = text.split(',').filter_map(|entry| entry.split_once('='));
    let (_, value) = entries.into_iter().find(|(key, _)| key.trim() == name)?;
    value.split(':').next()?.trim().parse().ok().map(|code: u8| char::from(code))
}

/// LAPACK's `potrf`, as XLA's CPU backend calls it: `uplo` selects the triangle; the other one is unchanged.
pub fn potrf_call(site: &Site) -> Option<Operation> {
    let [Shape::Array(from)] = &site.operands[..] else { return None };
    let lower = match letter(site, "uplo")? {
        'L' => true,
        'U' => false,
        _ => return None,
    };
    let types = Types { operands: vec![from.element], results: vec![from.element, ElementType::S32] };
    checked(site, Algorithm::CholeskyInPlace { lower }, &types).ok()
}

/// BLAS' `trsm`, as XLA's CPU backend calls it; the adjoint is unsupported.
pub fn trsm_call(site: &Site) -> Option<Operation> {
    let [Shape::Array(matrix), Shape::Array(right)] = &site.operands[..] else { return None };
    let choice = |name, no: char, yes: char| letter(site, name).filter(|c| [no, yes].contains(c)).map(|c| c == yes);
    let (left, lower) = (choice("side", 'R', 'L')?, choice("uplo", 'U', 'L')?);
    let (transposed, unit) = (choice("trans_x", 'N', 'T')?, choice("diag", 'N', 'U')?);
    let types = Types { operands: vec![matrix.element, right.element], results: vec![right.element] };
    checked(site, Algorithm::TriangularSolve { left, lower, transposed, unit }, &types).ok()
}

/// `left_side`, `lower`, `unit_diagonal` and `transpose_a` define the system.
pub fn triangular_solve(site: &mut Site) -> Found {
    let element = site.class(0)?;
    let (left, lower, unit) = (flag(site, "left_side")?, flag(site, "lower")?, flag(site, "unit_diagonal")?);
    let transposed = match site.attribute("transpose_a").map(|attribute| attribute.text) {
        None | Some("NO_TRANSPOSE") => false,
        Some("TRANSPOSE" | "ADJOINT") => true,
        _ => {
            let found = site.excerpt("transpose_a");
            let must = format!("be one of NO_TRANSPOSE, TRANSPOSE, ADJOINT, found {found}");
            return Err(site.attribute_must("transpose_a", must));
        }
    };
    let types = Types { operands: vec![element; 2], results: vec![element] };
    checked(site, Algorithm::TriangularSolve { left, lower, transposed, unit }, &types)
}

/// `algorithm` is one of three; the state has two or three numbers of 64 bits.
pub fn random_bits(site: &mut Site) -> Found {
    const NAMES: [&str; 3] = ["rng_default", "rng_three_fry", "rng_philox"];
    let state = site.class(0)?;
    let algorithm = site.need("algorithm", "rng_default")?.text;
    if !NAMES.contains(&algorithm) {
        let found = site.excerpt("algorithm");
        return Err(site.attribute_must("algorithm", format!("be one of {}, found {found}", NAMES.join(", "))));
    }
    let least = if algorithm == "rng_three_fry" { 2..3 } else { 2..4 };
    if state != ElementType::U64 || !site.sizes(0)?.0.iter().all(|n| n.is_none_or(|n| least.contains(&n))) {
        let sizes = if least.end == 3 { "u64[2]" } else { "u64[2] or u64[3]" };
        return Err(site.operand_must(0, format!("be {sizes}")));
    }
    let Shape::Tuple(parts) = site.written()? else {
        return Err(site.result_must("be a tuple of the state and the bits"));
    };
    let bits = match parts.get(1) {
        Some(Shape::Array(bits)) => bits.element,
        _ => return Err(site.result_must("be a tuple of the state and the bits")),
    };
    if !bits.is_unsigned() && !bits.is_signed() {
        return Err(site.result_must("have integers as bits"));
    }
    checked(site, Algorithm::RandomBits, &Types { operands: vec![state], results: vec![state, bits] })
}

/// Random numbers between two scalars, or around the first one.
pub fn random(site: &mut Site) -> Found {
    let element = site.class(0)?;
    for k in 0..2 {
        if !site.array(k)?.dims.is_empty() {
            return Err(site.operand_must(k, "be a scalar"));
        }
    }
    let text = site.need("distribution", "rng_uniform")?.text;
    if !["rng_uniform", "rng_normal"].contains(&text) {
        let found = site.excerpt("distribution");
        return Err(site.attribute_must("distribution", format!("be rng_uniform or rng_normal, found {found}")));
    }
    let types = Types { operands: vec![element; 2], results: vec![element] };
    let [_, _, sizes] = site.operands[..] else { return site.checked(Operation::Elementwise, &types) };
    // StableHLO has the sizes of the result as an operand, too.
    site.checked_with(Operation::Elementwise, &site.operands[..2], &types)?;
    let rank = i64::try_from(site.result()?.dims.len()).ok();
    let is_list = |list: &Array| {
        (list.element.is_signed() || list.element.is_unsigned()) && Sizes::of(list).fits(&Sizes(vec![rank]))
    };
    match sizes {
        Shape::Array(list) if is_list(list) => {
            Ok(Operation::Other { reason: "rng: the sizes of the result are an operand".to_string() })
        }
        _ => Err(site.operand_must(2, "be a list of integers, the sizes of the result")),
    }
}

/// The random state of a program; `delta` is added to it.
pub fn state(site: &mut Site) -> Found {
    site.number("delta", "delta", 1)?;
    site.result_is(&array(ElementType::U64, &[Some(2)]))?;
    Ok(Operation::Constant)
}

/// The size of the dimension in `dimensions`.
pub fn dimension_size(site: &mut Site) -> Found {
    let element = site.element(0)?;
    let dim = site.dim("dim", "dimensions")?;
    let types = Types { operands: vec![element], results: vec![ElementType::S32] };
    checked(site, Algorithm::DimensionSize { dim }, &types)
}

/// The operand with another size of the dimension in `dimensions`, up to its bound: elements keep their indices.
pub fn set_dimension_size(site: &mut Site) -> Found {
    let element = site.element(0)?;
    let dim = site.dim("dim", "dimensions")?;
    let rank = site.array(0)?.dims.len();
    if dim >= rank {
        let must = format!("be a dimension below the rank {rank}, found {dim}");
        return Err(site.attribute_must("dimensions", must));
    }
    let size = site.array(1)?;
    if size.element != ElementType::S32 || !size.dims.is_empty() {
        return Err(site.operand_must(1, format!("be {}", plain(&array(ElementType::S32, &[])))));
    }
    let types = Types { operands: vec![element, ElementType::S32], results: vec![element] };
    let mut result = site.array(0)?.clone();
    if let Some(bound) = result.dims[dim].bound() {
        result.dims[dim] = Dim::Bounded(bound);
    }
    site.shape_or(&Shape::Array(result));
    site.checked(Operation::Elementwise, &types)
}
