//! Steps that change shapes, and steps along one dimension.

use super::{Array, Writer};

impl Writer<'_> {
    pub fn transpose(&mut self) {
        let a = self.of_rank(2);
        let sizes = [a.sizes[1], a.sizes[0]];
        let layout = self.layout(&sizes);
        let c = self.target(&sizes, &layout, "1.0");
        let made = self.made(&sizes, layout);
        self.line(format!(
            "{} = linalg.transpose ins({} : {}) outs({} : {}) permutation = [1, 0]",
            made.name,
            a.name,
            a.r#type(),
            c.name,
            c.r#type()
        ));
    }

    pub fn broadcast(&mut self) {
        let a = self.of_rank(1);
        let dim = self.rng.usize(..2);
        let mut sizes = a.sizes.clone();
        sizes.insert(dim, self.size());
        let layout = self.layout(&sizes);
        let c = self.target(&sizes, &layout, "1.0");
        let made = self.made(&sizes, layout);
        self.line(format!(
            "{} = linalg.broadcast ins({} : {}) outs({} : {}) dimensions = [{dim}]",
            made.name,
            a.name,
            a.r#type(),
            c.name,
            c.r#type()
        ));
    }

    pub fn slices(&mut self) {
        let a = self.of_rank(2);
        let [rows, columns] = [a.sizes[0], a.sizes[1]];
        if rows < 2 || columns < 4 {
            return;
        }
        let sizes = [rows, columns / 2];
        let layout = self.layout(&sizes);
        let part = self.made(&sizes, layout);
        let taken = format!("[0, 1] [{rows}, {}] [1, 1]", columns / 2);
        self.line(format!(
            "{} = tensor.extract_slice {}{taken} : {} to {}",
            part.name,
            a.name,
            a.r#type(),
            part.r#type()
        ));
        let made = self.made(&a.sizes, a.layout.clone());
        let at = format!("[0, 2] [{rows}, {}] [1, 1]", columns / 2);
        self.line(format!(
            "{} = tensor.insert_slice {} into {}{at} : {} into {}",
            made.name,
            part.name,
            a.name,
            part.r#type(),
            a.r#type()
        ));
        let row = self.layout(&[columns]);
        let one = self.made(&[columns], row);
        self.line(format!(
            "{} = tensor.extract_slice {}[1, 0] [1, {columns}] [1, 1] : {} to {}",
            one.name,
            a.name,
            a.r#type(),
            one.r#type()
        ));
    }

    pub fn pad(&mut self) {
        let a = self.of_rank(2);
        let sizes = [a.sizes[0], a.sizes[1] + 8];
        let layout = self.layout(&sizes);
        let made = self.made(&sizes, layout);
        let value = self.name();
        self.line(format!("{value} = arith.constant 5.0 : f32"));
        self.line(format!(
            "{} = tensor.pad {} low[0, 3] high[0, 5] {{\n    ^bb0(%i: index, %j: index):",
            made.name, a.name
        ));
        self.line(format!("  tensor.yield {value} : f32\n    }} : {} to {}", a.r#type(), made.r#type()));
    }

    pub fn reshape(&mut self) {
        let a = self.of_rank(2);
        let flat = [a.sizes[0] * a.sizes[1]];
        let layout = self.layout(&flat);
        let line = Array { name: self.name(), sizes: flat.to_vec(), layout };
        self.line(format!(
            "{} = tensor.collapse_shape {} [[0, 1]] : {} into {}",
            line.name,
            a.name,
            a.r#type(),
            line.r#type()
        ));
        let sizes = [a.sizes[1], a.sizes[0]];
        let layout = self.layout(&sizes);
        let made = self.made(&sizes, layout);
        let [rows, columns] = sizes;
        self.line(format!(
            "{} = tensor.expand_shape {} [[0, 1]] output_shape [{rows}, {columns}] : {} into {}",
            made.name,
            line.name,
            line.r#type(),
            made.r#type()
        ));
        let both = [rows, 2 * columns];
        let layout = self.layout(&both);
        let joined = self.made(&both, layout);
        self.line(format!(
            "{} = tensor.concat dim(1) {}, {} : ({t}, {t}) -> {}",
            joined.name,
            made.name,
            made.name,
            joined.r#type(),
            t = made.r#type()
        ));
    }

    pub fn constant(&mut self) {
        let (rows, columns) = ([4, 8][self.rng.usize(..2)], 8);
        let layout = self.layout(&[rows, columns]);
        let made = self.made(&[rows, columns], layout);
        let row =
            |i: usize| format!("[{}]", (0..columns).map(|j| format!("{}.0", i * 3 + j)).collect::<Vec<_>>().join(", "));
        let list = match self.rng.bool() {
            true => "2.0".to_string(),
            false => format!("[{}]", (0..rows).map(row).collect::<Vec<_>>().join(", ")),
        };
        self.line(format!("{} = arith.constant dense<{list}> : {}", made.name, made.r#type()));
    }

    pub fn softmax(&mut self) {
        let a = self.arrays[self.rng.usize(..2)].clone();
        let layout = self.layout(&a.sizes);
        let c = self.target(&a.sizes, &layout, "0.0");
        let dim = self.rng.usize(..2);
        let made = self.made(&a.sizes, layout);
        self.line(format!(
            "{} = linalg.softmax dimension({dim}) ins({} : {}) outs({} : {}) -> {}",
            made.name,
            a.name,
            a.r#type(),
            c.name,
            c.r#type(),
            made.r#type()
        ));
    }

    pub fn window(&mut self) {
        let a = self.of_rank(2);
        let [rows, columns] = [a.sizes[0], a.sizes[1]];
        if rows < 2 {
            return;
        }
        let window = rows / 2 + 1;
        let of_window = self.layout(&[window]);
        let weights = self.target(&[window], &of_window, "1.0");
        let sizes = [rows / 2, columns];
        let layout = self.layout(&sizes);
        let c = self.target(&sizes, &layout, "0.0");
        let made = self.made(&sizes, layout);
        self.line(format!(
            "{} = linalg.generic {{indexing_maps = [affine_map<(i, j, r) -> (i + r, j)>, affine_map<(i, j, r) -> (r)>, \
             affine_map<(i, j, r) -> (i, j)>], iterator_types = [\"parallel\", \"parallel\", \"reduction\"]}} \
             ins({}, {} : {}, {}) outs({} : {}) {{",
            made.name,
            a.name,
            weights.name,
            a.r#type(),
            weights.r#type(),
            c.name,
            c.r#type()
        ));
        self.line(
            "^bb0(%x: f32, %y: f32, %s: f32):\n      %p = arith.mulf %x, %y : f32\n      %t = arith.addf %s, %p : f32",
        );
        self.line(format!("  linalg.yield %t : f32\n    }} -> {}", made.r#type()));
    }
}
