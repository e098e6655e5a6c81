//! Reading the input, writing the output, and the exit status.

use crate::complaint::Complaint;
use std::io::{self, Read, Write};
use std::path::Path;
use std::process::ExitCode;
use tensor_layout::text::Error;

/// The text of a file, `-` for standard input; one that gzip or zstd compressed is decompressed, whatever its name. A byte
/// order mark is no part of the text.
///
/// # Errors
/// The file cannot be read or decompressed, or is not UTF-8.
pub fn read(file: &str) -> Result<String, Complaint> {
    let mut bytes = Vec::new();
    let done = match file {
        "-" => io::stdin().lock().read_to_end(&mut bytes).map(|_| ()),
        file => std::fs::read(file).map(|all| bytes = all),
    };
    let bytes = done.and_then(|()| decompressed(bytes)).map_err(|error| Complaint::about(file, error))?;
    let mut text = String::from_utf8(bytes).map_err(|error| {
        let place = error.utf8_error().valid_up_to();
        Complaint::about(file, binary(error.as_bytes()).unwrap_or_else(|| format!("byte {place} is not UTF-8")))
    })?;
    if text.starts_with('\u{feff}') {
        text.drain(..'\u{feff}'.len_utf8());
    }
    Ok(text)
}

/// The most bytes that are made of a compressed file: a short one may stand for any number.
const LARGEST: u64 = 4 << 30;

/// What a compressed file stands for, by the bytes that it begins with.
fn decompressed(bytes: Vec<u8>) -> io::Result<Vec<u8>> {
    let wrong = |message: &str| io::Error::new(io::ErrorKind::InvalidData, message);
    let mut source: Box<dyn Read> = match &bytes[..] {
        [0x1f, 0x8b, ..] => Box::new(flate2::read::MultiGzDecoder::new(&bytes[..])),
        [0x28, 0xb5, 0x2f, 0xfd, ..] => {
            let decoder = ruzstd::decoding::StreamingDecoder::new(&bytes[..]);
            Box::new(decoder.map_err(|error| wrong(&format!("not zstd: {error}")))?)
        }
        [0xfd, b'7', b'z', b'X', b'Z', ..] => {
            return Err(wrong(
                "expected text, or text that gzip or zstd compressed, found xz; `xz -d` decompresses it",
            ));
        }
        _ => return Ok(bytes),
    };
    let mut text = Vec::new();
    let length = source.by_ref().take(LARGEST + 1).read_to_end(&mut text);
    let length = length.map_err(|error| wrong(&format!("the compressed text is damaged or not whole: {error}")))?;
    if length as u64 > LARGEST {
        return Err(wrong("the text must have at most 4 GiB, found more"));
    }
    drop(source);
    Ok(text)
}

/// What a file is that is no text, and how to get one; `None` where it is not known.
fn binary(bytes: &[u8]) -> Option<String> {
    // A field of a protocol buffer with number 1 that has a length: the name of a module of HLO, or the module itself.
    if bytes.starts_with(b"ML\xefR") {
        return Some(
            "expected HLO text, found bytecode of MLIR; XLA's `hlo-translate --mlir-to-hlo` makes HLO of StableHLO"
                .to_string(),
        );
    }
    bytes.starts_with(b"\n").then(|| {
        "expected HLO text, found what may be a binary HloModuleProto, HloProto or HloSnapshot; the text of a module is \
         `jaxlib.xla_client.XlaComputation(bytes).as_hlo_text()`, and XLA dumps text with `XLA_FLAGS=--xla_dump_hlo_as_text`"
            .to_string()
    })
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

/// Lets `fill` write into a file, `-` for standard output, through a buffer. A file is removed where `fill` fails, unless it
/// is something like `/dev/null`. A reader of standard output that has closed its end, such as `head`, is no error.
///
/// # Errors
/// The file cannot be created or written.
pub fn to<T, E>(file: &Path, fill: impl FnOnce(&mut dyn Write) -> Result<T, E>) -> io::Result<Result<T, E>> {
    const BUFFER: usize = 1 << 20;
    if file == Path::new("-") {
        let mut out = io::BufWriter::with_capacity(BUFFER, Piped(io::stdout().lock()));
        let found = fill(&mut out);
        out.flush()?;
        return Ok(found);
    }
    let mut out = io::BufWriter::with_capacity(BUFFER, std::fs::File::create(file)?);
    let found = fill(&mut out);
    let flushed = out.flush();
    if (found.is_err() || flushed.is_err()) && file.is_file() {
        std::fs::remove_file(file)?;
    }
    flushed.map(|()| found)
}

/// Standard output; what a closed pipe does not take is dropped.
struct Piped<W>(W);

impl<W: Write> Write for Piped<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self.0.write(bytes) {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(bytes.len()),
            done => done,
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush().or_else(|error| if error.kind() == io::ErrorKind::BrokenPipe { Ok(()) } else { Err(error) })
    }
}

/// Prints warnings on standard error.
pub fn warn(warnings: &Complaint) {
    // Standard error may be closed; what was asked for is there all the same.
    let _ = write!(anstream::stderr(), "{}", warnings.styled());
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
