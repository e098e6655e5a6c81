//! Faults that change a memref type at its definition and at its uses.

use crate::fault::scope_end;
use crate::text::Operation;
use layout_reference::choices::Choices;

type Lines = Vec<String>;

/// The parts of `memref<4x8xf32, strided<[8, 1], offset: 3>>`: sizes, element and the rest.
fn parts(text: &str) -> Option<(Vec<&str>, &str, &str)> {
    let inside = text.strip_prefix("memref<")?.strip_suffix('>')?;
    let (shape, rest) = inside.split_once(", ").unwrap_or((inside, ""));
    let mut sizes: Vec<&str> = shape.split('x').collect();
    let element = sizes.iter().position(|size| size.parse::<i64>().is_err() && *size != "?")?;
    let element = &shape[sizes[..element].iter().map(|size| size.len() + 1).sum::<usize>()..];
    sizes.truncate(sizes.iter().position(|size| size.parse::<i64>().is_err() && *size != "?")?);
    Some((sizes, element, rest))
}

fn join(sizes: &[String], element: &str, rest: &str) -> String {
    let shape: String = sizes.iter().map(|size| format!("{size}x")).collect();
    let rest = if rest.is_empty() { String::new() } else { format!(", {rest}") };
    format!("memref<{shape}{element}{rest}>")
}

/// Changes the type of a line's single result, in all lines that use it.
fn retyped(lines: &Lines, at: usize, op: Operation, new: &str) -> Option<Lines> {
    let mut op = op;
    let [result] = &op.results[..] else { return None };
    let result = result.clone();
    op.types.as_mut()?.1 = vec![new.to_owned()];
    let mut made = lines.clone();
    made[at] = op.write();
    let last = scope_end(lines, at);
    for line in &mut made[at + 1..=last] {
        let Some(mut user) = Operation::read(line) else { continue };
        let Some((inputs, _)) = &mut user.types else { continue };
        for (operand, input) in user.operands.iter().zip(inputs) {
            if *operand == result {
                new.clone_into(input);
            }
        }
        *line = user.write();
    }
    Some(made)
}

/// Changes a size of an allocation.
pub fn memref(choices: &mut Choices, lines: &Lines, at: usize) -> Option<Lines> {
    let op = Operation::read(&lines[at])?;
    if !["memref.alloc", "memref.alloca"].contains(&&*op.name) {
        return None;
    }
    let types = op.types.clone()?;
    let (sizes, element, rest) = parts(types.1.first()?)?;
    let mut sizes: Vec<String> = sizes.into_iter().map(str::to_owned).collect();
    let d = choices.usize(0..sizes.len().max(1));
    let size: i64 = sizes.get(d)?.parse().ok()?;
    sizes[d] = (size + choices.choice(&[-1, 1, -1])).to_string();
    retyped(lines, at, op, &join(&sizes, element, rest))
}

/// The numbers of an attribute that is an array.
fn array(attributes: &str, name: &str) -> Option<(usize, usize, Vec<i64>)> {
    let begin = format!("{name} = array<i64: ");
    let start = attributes.find(&begin)? + begin.len();
    let end = start + attributes[start..].find('>')?;
    let numbers = attributes[start..end].split(", ").map(|number| number.parse().ok()).collect::<Option<_>>()?;
    Some((start, end, numbers))
}

/// Changes the offset, a size or a stride of a subview or of a reinterpreted memref.
pub fn part(choices: &mut Choices, lines: &Lines, at: usize) -> Option<Lines> {
    let mut op = Operation::read(&lines[at])?;
    if !["memref.subview", "memref.reinterpret_cast"].contains(&&*op.name) {
        return None;
    }
    let what = choices.usize(0..3);
    let name = ["static_offsets", "static_sizes", "static_strides"][what];
    let (start, end, mut numbers) = array(&op.attributes, name)?;
    let d = choices.usize(0..numbers.len().max(1));
    if *numbers.get(d)? == i64::MIN {
        return None;
    }
    let by = choices.choice(&[1, -1]);
    numbers[d] += by;
    let list: Vec<String> = numbers.iter().map(ToString::to_string).collect();
    op.attributes = format!("{}{}{}", &op.attributes[..start], list.join(", "), &op.attributes[end..]);
    let (sources, results) = op.types.clone()?;
    let (sizes, element, rest) = parts(results.first()?)?;
    let (mut strides, mut offset, space) = place(&sizes, rest)?;
    let mut sizes: Vec<String> = sizes.into_iter().map(str::to_owned).collect();
    let cast = op.name == "memref.reinterpret_cast";
    let more = |old: &str, by: i64| {
        Some(if old == "?" { old.to_owned() } else { (old.parse::<i64>().ok()? + by).to_string() })
    };
    if !cast && sizes.len() != numbers.len() {
        return None;
    }
    let (source_sizes, _, source_rest) = parts(sources.first()?)?;
    let source_strides = place(&source_sizes, source_rest)?.0;
    let stride = || if cast { Some(1) } else { source_strides.get(d)?.parse::<i64>().ok() };
    match what {
        0 => offset = more(&offset, by * stride()?)?,
        1 => sizes[d] = more(&sizes[d], by)?,
        _ => strides[d] = more(&strides[d], by * stride()?)?,
    }
    let identity = |sizes: &[String], strides: &[String]| {
        let mut next = Some(1_i64);
        sizes.iter().zip(strides).rev().all(|(size, stride)| {
            let same = next.is_some_and(|next| stride.parse() == Ok(next));
            next = next.and_then(|next| next.checked_mul(size.parse().ok()?));
            same
        })
    };
    let space = if space.is_empty() { String::new() } else { format!(", {space}") };
    // A subview's type has strides even if they are those of the whole memory.
    let plain = cast && rest.is_empty() && offset == "0" && identity(&sizes, &strides);
    let offset = if offset == "0" { String::new() } else { format!(", offset: {offset}") };
    let rest = if plain { space } else { format!("strided<[{}]{offset}>{space}", strides.join(", ")) };
    retyped(lines, at, op, &join(&sizes, element, &rest))
}

/// The strides, the offset and the memory space after a type's element.
fn place(sizes: &[&str], rest: &str) -> Option<(Vec<String>, String, String)> {
    let Some(inside) = rest.strip_prefix("strided<[") else {
        let mut next = Some(1_i64);
        let mut strides: Vec<String> = sizes
            .iter()
            .rev()
            .map(|size| {
                let stride = next.map_or("?".to_owned(), |n| n.to_string());
                next = next.and_then(|n| n.checked_mul(size.parse().ok()?));
                stride
            })
            .collect();
        strides.reverse();
        return Some((strides, "0".into(), rest.into()));
    };
    let (strides, behind) = inside.split_once(']')?;
    let (offset, space) = behind.split_once('>')?;
    let offset = offset.strip_prefix(", offset: ").unwrap_or("0");
    let strides = strides.split(", ").filter(|stride| !stride.is_empty()).map(str::to_owned).collect();
    Some((strides, offset.to_owned(), space.trim_start_matches(", ").to_owned()))
}
