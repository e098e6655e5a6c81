//! Random chains of reshapes, transposes and tilings as indexing-map texts, `a >> b`, `a` first.

use layout_reference::choices::Choices;

/// The row-major strides of a shape.
fn strides(shape: &[i64]) -> Vec<i64> {
    (0..shape.len()).map(|k| shape[k + 1..].iter().product()).collect()
}

fn linear(shape: &[i64], index: &[String]) -> String {
    let term = |(e, s): (&String, i64)| if s == 1 { format!("({e})") } else { format!("({e}) * {s}") };
    index.iter().zip(strides(shape)).map(term).collect::<Vec<_>>().join(" + ")
}

fn delinear(e: &str, shape: &[i64]) -> Vec<String> {
    let digit = |(k, stride): (usize, i64)| {
        let mut x = format!("({e})");
        if k > 0 {
            x = format!("({x} mod {})", stride * shape[k]);
        }
        if stride == 1 { x } else { format!("({x} floordiv {stride})") }
    };
    strides(shape).into_iter().enumerate().map(digit).collect()
}

fn dims(rank: usize) -> Vec<String> {
    (0..rank).map(|d| format!("d{d}")).collect()
}

fn map(shape: &[i64], results: &[String]) -> String {
    let domain: Vec<String> = shape.iter().enumerate().map(|(d, s)| format!("d{d} in [0, {}]", s - 1)).collect();
    format!("({}) -> ({}), domain: {}", dims(shape.len()).join(", "), results.join(", "), domain.join(", "))
}

/// The offset of an element in a row-major array of tiles, by the definition of repeated tiling.
fn tiled(shape: &[i64], tiles: &[[i64; 2]]) -> String {
    let mut index: Vec<(String, i64)> = dims(shape.len()).into_iter().zip(shape.iter().copied()).collect();
    for tile in tiles {
        let (mut inner, outer) = (Vec::new(), index.len() - 2);
        for (k, &t) in tile.iter().enumerate() {
            let (e, size) = &mut index[outer + k];
            if t == 1 {
                inner.push(("0".to_string(), 1));
                continue;
            }
            inner.push((format!("({e}) mod {t}"), t));
            (*e, *size) = (format!("({e}) floordiv {t}"), (*size + t - 1) / t);
        }
        index.extend(inner);
    }
    let (exprs, sizes): (Vec<String>, Vec<i64>) = index.into_iter().unzip();
    map(shape, &[linear(&sizes, &exprs)])
}

fn factors(rng: &mut Choices, mut n: i64, rank: usize) -> Vec<i64> {
    let mut shape = vec![1; rank];
    let mut p = 2;
    while n > 1 {
        while n % p == 0 {
            shape[rng.usize(0..rank)] *= p;
            n /= p;
        }
        p += 1;
    }
    shape
}

/// A random chain.
pub fn chain(rng: &mut Choices) -> String {
    let n = rng.choice(&[720, 1024, 5040, 4096, 2520, 65536, 15360, 41472, 30030]);
    let mut shapes: Vec<Vec<i64>> = Vec::new();
    for _ in 0..rng.usize(2..5) {
        let rank = rng.usize(2..7);
        shapes.push(factors(rng, n, rank));
    }
    if rng.bool() {
        shapes.push(shapes[0].clone());
    }
    let reshape = |pair: &[Vec<i64>]| map(&pair[0], &delinear(&linear(&pair[0], &dims(pair[0].len())), &pair[1]));
    let mut maps: Vec<String> = shapes.windows(2).map(reshape).collect();
    let last = &shapes[shapes.len() - 1];
    if rng.u8(0..10) < 3 {
        let mut order = dims(last.len());
        rng.shuffle(&mut order);
        maps.push(map(last, &order));
    } else if rng.u8(0..10) < 3 {
        let mut tiles = vec![[rng.choice(&[2, 4, 8]), rng.choice(&[8, 16, 128])]];
        if rng.bool() {
            tiles.push([2, 1]);
        }
        maps.push(tiled(last, &tiles));
    }
    maps.join(" >> ")
}
