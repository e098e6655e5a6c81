//! `layout-fuzz CHECK [SECONDS [SEED [CASES [SHARE]]]]` runs a check on its corpus, or one text in SHARE of it, and then on
//! texts of its grammar and mutations of both.
//!
//! The current text is in the file that the variable `LAYOUT_FUZZ_INPUT` names, so that it is known after a crash. A
//! text that takes longer than 5 seconds is printed. `layout-fuzz CHECK FILE` runs a check on one text, and
//! `layout-fuzz CHECK print N` prints N texts of its grammar. Without arguments it lists the checks.

use layout_fuzz::{CHECKS, Check, Source};
use std::time::{Duration, Instant};
use std::{env, fs, process::ExitCode};

/// A text that takes longer is printed.
const SLOW: Duration = Duration::from_secs(5);

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let Some(check) = arguments.first().and_then(|name| Check::named(name)) else {
        CHECKS.iter().for_each(|check| println!("{:14} {}", check.name, check.about));
        return if arguments.is_empty() { ExitCode::SUCCESS } else { ExitCode::from(2) };
    };
    if arguments.get(1).is_some_and(|word| word == "print") {
        let (source, count) = (Source::new(check), arguments.get(2).and_then(|n| n.parse().ok()).unwrap_or(1));
        let mut rng = fastrand::Rng::with_seed(0);
        (0..count).for_each(|_| println!("{}\n// -----", source.by_grammar(&mut rng)));
        return ExitCode::SUCCESS;
    }
    let number = |k: usize, default: u64| arguments.get(k).map_or(Ok(default), |text| text.parse::<u64>());
    let (Ok(seconds), Ok(seed), Ok(most), Ok(share)) =
        (number(1, 1), number(2, 0), number(3, u64::MAX), number(4, 1).map(|share| share.max(1)))
    else {
        let text = fs::read_to_string(&arguments[1]).expect("the file is a text");
        (check.check)(&text);
        return ExitCode::SUCCESS;
    };

    let input = env::var_os("LAYOUT_FUZZ_INPUT");
    let run = |text: &str| {
        if let Some(input) = &input {
            fs::write(input, text).expect("the file of the input can be written");
        }
        (check.check)(text);
    };
    let texts = check.texts();
    texts.iter().zip(seed % share..).filter(|(_, number)| number % share == 0).for_each(|(text, _)| run(text));

    let (source, mut rng) = (Source::new(check), fastrand::Rng::with_seed(seed));
    let (start, mut cases, mut slowest) = (Instant::now(), 0u64, Duration::ZERO);
    while start.elapsed() < Duration::from_secs(seconds) && cases < most {
        for text in source.series(&mut rng) {
            let began = Instant::now();
            run(&text);
            let took = began.elapsed();
            if took > SLOW {
                eprintln!("{took:?} for this text:\n{text}");
            }
            slowest = slowest.max(took);
            cases += 1;
        }
    }
    println!("{}: {} texts, {cases} others, the slowest in {slowest:?}", check.name, texts.len());
    ExitCode::SUCCESS
}
