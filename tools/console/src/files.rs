//! Reading the input, writing the output, and the exit status.

use crate::complaint::Complaint;
use std::io::{self, Read, Write};
use std::path::Path;
use std::process::ExitCode;

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
