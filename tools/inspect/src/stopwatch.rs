//! The time that work takes. The computer has the clock, and in the browser the page.

use std::time::Duration;

/// A stopwatch that runs.
#[derive(Clone, Copy)]
pub struct Stopwatch(Duration);

impl Stopwatch {
    /// A stopwatch that begins now.
    pub fn start() -> Stopwatch {
        Stopwatch(clock())
    }

    /// The time since it began.
    pub fn elapsed(self) -> Duration {
        clock().saturating_sub(self.0)
    }
}

/// The time since a moment before all stopwatches.
#[cfg(not(target_family = "wasm"))]
fn clock() -> Duration {
    use std::{sync::LazyLock, time::Instant};
    static START: LazyLock<Instant> = LazyLock::new(Instant::now);
    START.elapsed()
}

/// The time since the page was opened.
#[cfg(target_family = "wasm")]
fn clock() -> Duration {
    #[link(wasm_import_module = "page")]
    unsafe extern "C" {
        /// The milliseconds of that time.
        safe fn now() -> f64;
    }
    Duration::try_from_secs_f64(now() / 1000.0).unwrap_or_default()
}
