//! Reading the input, writing the output, and the exit status.

use crate::complaint::Complaint;
use std::io::{self, Read, Write};
use std::path::Path;
use std::process::ExitCode;
use tensor_layout::text::Error;

/// The text of a file, `-` for standard input.
///
/// # Errors
/// The file cannot be read, or is not UTF-8.
pub fn read(file: &str) -> Result<String, Complaint> {
    let mut bytes = Vec::new();
    let done = match file {
        "-" => io::stdin().lock().read_to_end(&mut bytes).map(|_| ()),
        file => std::fs::read(file).map(|all| bytes = all),
    };
    done.map_err(|error| Complaint::about(file, error))?;
    String::from_utf8(bytes)
        .map_err(|error| Complaint::about(file, format!("byte {} is not UTF-8", error.utf8_error().valid_up_to())))
}

/// Writes a text into a file, `-` for standard output.
///
/// # Errors
/// The file cannot be written.
pub fn write(file: &Path, text: &str) -> Result<(), Complaint> {
    if file == Path::new("-") {
        return print(text);
    }
    std::fs::write(file, text).map_err(|error| Complaint::about(&file.display().to_string(), error))
}

/// Prints a text. A reader that has closed its end, such as `head`, is no error.
///
/// # Errors
/// Standard output cannot be written.
pub fn print(text: &str) -> Result<(), Complaint> {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(Complaint::new(error)),
        _ => Ok(()),
    }
}

/// Why a tool stopped while it printed.
#[derive(Debug)]
pub enum Stop {
    /// Standard output could not be written.
    Output(io::Error),
    /// An answer could not be given.
    Wrong(Error),
}

impl From<io::Error> for Stop {
    fn from(error: io::Error) -> Stop {
        Stop::Output(error)
    }
}

impl From<Error> for Stop {
    fn from(error: Error) -> Stop {
        Stop::Wrong(error)
    }
}

impl Stop {
    /// As a message about the file that was read.
    pub fn complaint(self, file: &str) -> Complaint {
        match self {
            Stop::Output(error) => Complaint::new(error),
            Stop::Wrong(Error { message, .. }) => Complaint::about(file, message),
        }
    }
}

/// Prints what `write` writes while it is made. A reader that has closed its end, such as `head`, stops it, and is no
/// error.
///
/// # Errors
/// What `write` returns.
pub fn stream(write: impl FnOnce(&mut dyn Write) -> Result<(), Stop>) -> Result<(), Stop> {
    let mut out = io::BufWriter::new(io::stdout().lock());
    let mut done = write(&mut out);
    // What was found before an error is printed, too.
    if let (Ok(()) | Err(Stop::Wrong(_)), Err(error)) = (&done, out.flush()) {
        done = Err(Stop::Output(error));
    }
    match done {
        Err(Stop::Output(error)) if error.kind() == io::ErrorKind::BrokenPipe => {
            // What is left in the buffer cannot be written.
            let _ = out.into_parts();
            Ok(())
        }
        done => done,
    }
}

/// Prints what a tool found, or its complaint on standard error; the exit status is 0 or 1.
pub fn finish(found: Result<String, Complaint>) -> ExitCode {
    match found.and_then(|text| print(&text)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(complaint) => {
            // Standard error may be closed, too; the exit status still says that the tool failed.
            let _ = write!(anstream::stderr(), "{}", complaint.styled());
            ExitCode::from(1)
        }
    }
}
