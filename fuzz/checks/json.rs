//! Checks of the line protocol, on the program that speaks it: one answer for each line.

use serde_json::Value;
use std::cell::RefCell;
use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::{env, fs};

/// `layout-inspect --json`, which keeps running between lines.
struct Server {
    child: Child,
    requests: ChildStdin,
    answers: BufReader<ChildStdout>,
}

impl Server {
    /// Starts the program at `LAYOUT_INSPECT`, or the one beside this program.
    fn new() -> Server {
        let beside = || env::current_exe().expect("this program has a path").with_file_name("layout-inspect");
        let program = env::var_os("LAYOUT_INSPECT").map_or_else(beside, PathBuf::from);
        assert!(fs::exists(&program).unwrap_or(false), "{} is not built", program.display());
        let mut command = Command::new(program);
        let mut child = command.arg("--json").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("it starts");
        let (requests, answers) = (child.stdin.take().expect("a pipe"), child.stdout.take().expect("a pipe"));
        Server { child, requests, answers: BufReader::new(answers) }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Each line gets one answer, an object with `ok`, and with `error` if `ok` is false.
pub fn json(text: &str) {
    thread_local! {
        static SERVER: RefCell<Option<Server>> = const { RefCell::new(None) };
    }
    SERVER.with_borrow_mut(|server| {
        for line in text.lines().filter(|line| !line.trim().is_empty()) {
            let mut running = server.take().unwrap_or_else(Server::new);
            let mut answer = String::new();
            let sent = running.requests.write_all(format!("{line}\n").as_bytes());
            let read = sent.and_then(|()| running.answers.read_line(&mut answer));
            assert!(read.is_ok_and(|bytes| bytes > 0), "no answer to {line}");
            let value: Value = serde_json::from_str(&answer).unwrap_or_else(|error| panic!("{error}: {answer}"));
            match value["ok"].as_bool() {
                Some(true) => {}
                Some(false) => {
                    let message = value["error"].as_str().unwrap_or_default();
                    // A refusal may quote the line.
                    let is_ours = message.contains("internal error") && !line.contains("internal error");
                    assert!(!message.is_empty() && !is_ours, "{line}: {answer}");
                }
                None => panic!("{line}: an answer without `ok`: {answer}"),
            }
            *server = Some(running);
        }
    });
}
