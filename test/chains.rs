use layout::map::IndexingMap;
use layout::simplify::cost;
use std::time::Instant;
#[test]
fn chains() {
    let path = std::env::var("CHAINS").unwrap_or("/tmp/maps-scratch/chains1.txt".into());
    let text = std::fs::read_to_string(path).unwrap();
    let verbose = std::env::var("V").is_ok();
    let (mut ops, mut divs, mut ids, mut n, mut cost_sum) = (0, 0, 0, 0, 0u64);
    let mut t1 = std::time::Duration::ZERO;
    let mut t2 = t1;
    let mut time = std::time::Duration::ZERO;
    for line in text.lines() {
        let chain = line.split(" | ").nth(1).unwrap();
        let maps: Vec<IndexingMap> = chain.split(" >> ").map(|m| IndexingMap::parse(m).unwrap()).collect();
        let t = Instant::now();
        let (r, a, b) = layout::simplify::compose_bench(&maps);
        t1 += a;
        t2 += b;
        let mut map = maps[0].clone();
        map.results = r;
        time += t.elapsed();
        let printed = map.to_string();
        let r = &printed[printed.find("->").unwrap()..printed.find(", domain").unwrap()];
        let d = r.matches("floordiv").count() + r.matches("mod").count() + r.matches("ceildiv").count();
        let o = d
            + r.matches(" + ").count()
            + r.matches(" * ").count()
            + r.matches(" - ").count()
            + r.matches("(-").count();
        ops += o;
        divs += d;
        n += 1;
        let c: u32 = map.results.iter().map(cost).sum();
        cost_sum += c as u64;
        let id = map.results.iter().enumerate().all(|(k, e)| *e == layout::expr::Expr::Var(k));
        ids += usize::from(id);
        if verbose {
            println!("{} {o} {d} {c} {r}", line.split(' ').next().unwrap());
        }
    }
    println!("n {n} ops {ops} divs {divs} cost {cost_sum} identities {ids} time/chain {:?}", time / n);
    println!("n {:?} {:?}", t1 / n, t2 / n);
}
