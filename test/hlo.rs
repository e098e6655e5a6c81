//! HLO text: the corpus, every kind of operation, wrong texts, and texts that random changes broke.

use layout::hlo::Module;

#[test]
fn corpus() {
    for entry in std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/test/hlo")).unwrap() {
        let path = entry.unwrap().path();
        let text = std::fs::read_to_string(&path).unwrap();
        match Module::parse(&text) {
            Ok(m) => {
                println!("{} {}", path.display(), m.computations.iter().map(|c| c.instructions.len()).sum::<usize>())
            }
            Err(errors) => {
                for e in errors.iter().take(5) {
                    println!("{}: {:?} {e}", path.display(), e.line_column(&text));
                }
            }
        }
    }
}
