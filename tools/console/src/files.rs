//! Reading the input, writing the output, and the exit status.

use crate::complaint::Complaint;
use std::fs::Permissions;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use tensor_layout::text::{Error, binary_format};

/// The text of a file, `-` for standard input, decompressed if gzip or zstd compressed it, whatever its name. A byte
/// order mark is removed.
///
/// # Errors
/// The file cannot be read or decompressed, or is not UTF-8.
pub fn read(file: &str) -> Result<String, Complaint> {
    let mut bytes = Vec::new();
    let done = match file {
        "-" => io::stdin().lock().read_to_end(&mut bytes).map(|_| ()),
        file => std::fs::read(file).map(|all| bytes = all),
    };
    let (bytes, was_compressed) =
        done.and_then(|()| decompressed(bytes)).map_err(|error| Complaint::about(file, error))?;
    if let Some(format) = binary_format(&bytes) {
        let found = if was_compressed { "found, after decompression," } else { "found" };
        let message = format!("expected text, or text that gzip or zstd compressed, {found} {format}");
        return Err(Complaint::about(file, message));
    }
    if let Some(place) = bytes.iter().position(|byte| *byte == 0).filter(|_| std::str::from_utf8(&bytes).is_ok()) {
        return Err(Complaint::about(file, format!("byte {place} is 0, which no text has")));
    }
    let mut text = String::from_utf8(bytes).map_err(|error| {
        let place = error.utf8_error().valid_up_to();
        Complaint::about(file, program(error.as_bytes()).unwrap_or_else(|| format!("byte {place} is not UTF-8")))
    })?;
    if text.starts_with('\u{feff}') {
        text.drain(..'\u{feff}'.len_utf8());
    }
    Ok(text)
}

/// The most bytes after decompression: a short file may expand without limit.
const LARGEST: u64 = 4 << 30;

/// The bytes of a file, decompressed where its first bytes say so, and whether they do.
fn decompressed(bytes: Vec<u8>) -> io::Result<(Vec<u8>, bool)> {
    let wrong = |message: &str| io::Error::new(io::ErrorKind::InvalidData, message);
    let mut source: Box<dyn Read> = match &bytes[..] {
        [0x1f, 0x8b, ..] => Box::new(flate2::read::MultiGzDecoder::new(&bytes[..])),
        [0x28, 0xb5, 0x2f, 0xfd, ..] => {
            let decoder = ruzstd::decoding::StreamingDecoder::new(&bytes[..]);
            Box::new(decoder.map_err(|error| wrong(&format!("not zstd: {error}")))?)
        }
        _ => return Ok((bytes, false)),
    };
    let mut text = Vec::new();
    let length = source.by_ref().take(LARGEST + 1).read_to_end(&mut text);
    let length = length.map_err(|error| wrong(&format!("the compressed text is damaged or not whole: {error}")))?;
    if length as u64 > LARGEST {
        return Err(wrong("the text must have at most 4 GiB, found more"));
    }
    drop(source);
    Ok((text, true))
}

/// A message about a program in a binary format, and how to get text from it; `None` for other bytes that are no text.
fn program(bytes: &[u8]) -> Option<String> {
    // Field 1 of a protocol buffer, with a length: the name of a module of HLO, or the module itself.
    if bytes.starts_with(b"ML\xefR") {
        return Some(
            "expected text, found bytecode of MLIR; `stablehlo-translate --deserialize` prints an artifact of StableHLO"
                .to_string(),
        );
    }
    bytes.starts_with(b"\n").then(|| {
        "expected HLO text, found what may be a binary HloModuleProto, HloProto or HloSnapshot; the text of a module is \
         `jaxlib.xla_client.XlaComputation(bytes).as_hlo_text()`, and XLA dumps text with `XLA_FLAGS=--xla_dump_hlo_as_text`"
            .to_string()
    })
}

/// Checks that an output file is none of the input files.
///
/// # Errors
/// They are one file, by whatever names and links.
pub fn check_output(output: &Path, inputs: &[&str]) -> Result<(), Complaint> {
    let Ok(written) = output.canonicalize() else { return Ok(()) };
    let same = |input: &&&str| written.is_file() && Path::new(input).canonicalize().is_ok_and(|read| read == written);
    match inputs.iter().find(same) {
        Some(input) => Err(Complaint::about(
            &output.display().to_string(),
            format!("the output would overwrite the input `{input}`; name another file"),
        )),
        None => Ok(()),
    }
}

/// Writes a text into a file, `-` for standard output. A file gets all of the text or stays as it was.
///
/// # Errors
/// The file cannot be written.
pub fn write(file: &Path, text: &str) -> Result<(), Complaint> {
    if file == Path::new("-") {
        return print(text);
    }
    let written = to(file, |out| out.write_all(text.as_bytes())).and_then(|written| written);
    written.map_err(|error| Complaint::about(&file.display().to_string(), error))
}

/// Lets `fill` write into a file, `-` for standard output, through a buffer. A file gets all of the text or stays as
/// it was: the text goes into a new file of the same folder, which replaces `file` when `fill` has succeeded.
/// A device or a pipe is written directly. A reader of standard output that has closed its end, such as `head`, is no
/// error.
///
/// # Errors
/// The file cannot be created or written.
pub fn to<T, E>(file: &Path, fill: impl FnOnce(&mut dyn Write) -> Result<T, E>) -> io::Result<Result<T, E>> {
    if file == Path::new("-") {
        return through(Piped(io::stdout().lock()), fill);
    }
    match std::fs::File::options().write(true).open(file) {
        Ok(old) => match old.metadata()? {
            kind if kind.is_file() => {
                NewFile::beside(std::fs::canonicalize(file)?, Some(kind.permissions()))?.filled(fill)
            }
            _ => through(old, fill),
        },
        Err(error) if error.kind() == io::ErrorKind::NotFound => NewFile::beside(file.into(), None)?.filled(fill),
        Err(error) => Err(error),
    }
}

/// Lets `fill` write through a buffer.
fn through<T, E>(out: impl Write, fill: impl FnOnce(&mut dyn Write) -> Result<T, E>) -> io::Result<Result<T, E>> {
    let mut out = io::BufWriter::with_capacity(1 << 20, out);
    let found = fill(&mut out);
    out.flush()?;
    Ok(found)
}

/// A file that will replace another. Dropped before that, after an error or in a panic, it is removed.
struct NewFile {
    file: std::fs::File,
    path: PathBuf,
    target: PathBuf,
}

impl NewFile {
    /// A new file in the folder of `target`, with these permissions.
    fn beside(target: PathBuf, permissions: Option<Permissions>) -> io::Result<NewFile> {
        // Another thread, or a killed process, may have left a file of the same name.
        let mut names = (0..).map(|k: u64| target.with_file_name(format!(".layout-{}-{k}.tmp", std::process::id())));
        let (file, path) = loop {
            let path = names.next().unwrap_or_default();
            match std::fs::File::options().write(true).create_new(true).open(&path) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => {
                    let message = format!("a new file in its folder cannot be created: {error}");
                    return Err(io::Error::new(error.kind(), message));
                }
                Ok(file) => break (file, path),
            }
        };
        let new = NewFile { file, path, target };
        if let Some(permissions) = permissions {
            new.file.set_permissions(permissions)?;
        }
        Ok(new)
    }

    /// Lets `fill` write into the file, which replaces the target if that succeeds.
    fn filled<T, E>(self, fill: impl FnOnce(&mut dyn Write) -> Result<T, E>) -> io::Result<Result<T, E>> {
        let found = through(&self.file, fill)?;
        if found.is_ok() {
            std::fs::rename(&self.path, &self.target)?;
        }
        Ok(found)
    }
}

impl Drop for NewFile {
    fn drop(&mut self) {
        // After the rename the file is gone.
        let _ = std::fs::remove_file(&self.path);
    }
}

/// Standard output; text for a closed pipe is dropped.
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
    // Standard error may be closed; the output is complete all the same.
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

/// The reason why a tool stopped while it printed.
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
    /// The complaint about the file that was read.
    pub fn complaint(self, file: &str) -> Complaint {
        match self {
            Stop::Output(error) => Complaint::new(error),
            Stop::Wrong(Error { message, .. }) => Complaint::about(file, message),
        }
    }
}

/// Prints the text of `write` while it is written. A reader that has closed its end, such as `head`, stops it, and is
/// no error.
///
/// # Errors
/// The error of `write`, or standard output cannot be written.
pub fn stream(write: impl FnOnce(&mut dyn Write) -> Result<(), Stop>) -> Result<(), Stop> {
    let mut out = io::BufWriter::new(io::stdout().lock());
    let mut done = write(&mut out);
    // Text before an error is printed, too.
    if let (Ok(()) | Err(Stop::Wrong(_)), Err(error)) = (&done, out.flush()) {
        done = Err(Stop::Output(error));
    }
    match done {
        Err(Stop::Output(error)) if error.kind() == io::ErrorKind::BrokenPipe => {
            // The rest of the buffer cannot be written.
            let _ = out.into_parts();
            Ok(())
        }
        done => done,
    }
}

/// Prints the output of a tool, or its complaint on standard error; the exit status is 0 or 1.
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

#[cfg(test)]
mod tests {
    use super::*;

    /// The names and texts of the files in a folder.
    fn files(folder: &Path) -> Vec<(String, String)> {
        let entries = std::fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path());
        let text = |path: PathBuf| {
            (
                path.file_name().expect("a name").to_string_lossy().into_owned(),
                std::fs::read_to_string(&path).expect("a text"),
            )
        };
        let mut all: Vec<_> = entries.map(text).collect();
        all.sort();
        all
    }

    /// After success a file has the new text, after an error or a panic the old one, and no other file is left.
    #[test]
    fn a_file_gets_all_of_the_text_or_none() {
        let folder = std::env::temp_dir().join(format!("layout-console-files-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder");
        let file = folder.join("out");
        let all = |text: &str| vec![("out".to_string(), text.to_string())];
        let partly = |out: &mut dyn Write| {
            out.write_all(&[b'x'; 3 << 20]).expect("room");
            Err::<(), &str>("wrong")
        };
        assert_eq!(to(&file, partly).expect("a folder that can be written"), Err("wrong"));
        assert_eq!(files(&folder), []);
        write(&file, "old").expect("room");
        assert_eq!(files(&folder), all("old"));
        assert_eq!(to(&file, partly).expect("a folder that can be written"), Err("wrong"));
        assert_eq!(files(&folder), all("old"));
        let panics = std::panic::catch_unwind(|| {
            to(&file, |out| -> Result<(), ()> {
                out.write_all(b"part").expect("room");
                panic!("a bug")
            })
        });
        assert!(panics.is_err());
        assert_eq!(files(&folder), all("old"));
        write(&file, "new").expect("room");
        assert_eq!(files(&folder), all("new"));
        std::fs::remove_dir_all(&folder).expect("a folder of this test");
    }

    /// The target of a link is written, and the permissions of a file stay; a device is written directly.
    #[cfg(unix)]
    #[test]
    fn links_permissions_and_devices() {
        use std::os::unix::fs::{PermissionsExt, symlink};
        let folder = std::env::temp_dir().join(format!("layout-console-links-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder");
        let (file, link) = (folder.join("out"), folder.join("link"));
        write(&file, "old").expect("room");
        std::fs::set_permissions(&file, Permissions::from_mode(0o640)).expect("an own file");
        symlink("out", &link).expect("a link");
        write(&link, "new").expect("room");
        assert!(link.is_symlink());
        assert_eq!(std::fs::read_to_string(&file).expect("a text"), "new");
        assert_eq!(std::fs::metadata(&file).expect("a file").permissions().mode() & 0o777, 0o640);
        write(Path::new("/dev/null"), "new").expect("a device");
        assert!(!Path::new("/dev/null").is_file());
        std::fs::remove_dir_all(&folder).expect("a folder of this test");
    }
}
