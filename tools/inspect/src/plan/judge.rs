//! A judge: a command that gets plans, a line of JSON each, and answers with the cost of each.
//!
//! `{"entry":{"in":["{1,0}"],"out":["{0,1}"]},"values":{..}}` is answered `{"cost":1234}`, or `{"error":"why"}` where
//! the plan has no cost. The shell runs the command, which is asked as long as it runs; if it ends after an answer, it
//! is started again for the next plan. A thread writes and reads, so the search's deadline ends the wait for an answer.
//! The command is a process group: killing it kills the processes that it started.

use super::answer::PlanAnswer;
use crate::clock::Clock;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

/// The most bytes of an answer. A compiler's error may have many lines.
const LONGEST: u64 = 1 << 20;

/// The interval between messages that the judge is still awaited.
const PATIENCE: Duration = Duration::from_secs(10);

/// The time for a judge to end after its last answer.
const LAST: Duration = Duration::from_secs(1);

/// A judge that is asked about one plan after the other.
pub struct JudgeCommand {
    command: String,
    running: Option<Running>,
    /// Why the judge cannot be asked.
    pub broken: Option<String>,
}

/// A running command.
struct Running {
    child: Child,
    asked: Sender<String>,
    said: Receiver<Option<String>>,
}

impl JudgeCommand {
    /// A judge that is not started yet.
    pub fn new(command: &str) -> JudgeCommand {
        JudgeCommand { command: command.to_string(), running: None, broken: None }
    }

    /// The cost of the plan, or why it has none; `None` where the time is over, or the judge is broken.
    pub fn ask(&mut self, plan: &PlanAnswer, clock: &Clock) -> Option<Result<i64, String>> {
        let line = json!({"entry": plan.entry, "values": plan.values}).to_string();
        // A command that has ended after its last answer is started again, once.
        let known = self.running.is_some();
        let mut answer = self.answer(&line, clock);
        if known && answer == Ok(None) {
            answer = self.answer(&line, clock);
        }
        self.broken = match answer {
            Err(TimeIsOver) => None,
            Ok(None) => Some("the judge ended without an answer".to_string()),
            Ok(Some(answer)) => match cost(&answer) {
                Some(cost) => return Some(cost),
                None => {
                    let found: String = answer.trim().chars().take(80).collect();
                    let expected = "expected `{\"cost\":n}`, n from 0 in 64 bits, or `{\"error\":..}` of the judge";
                    Some(format!("{expected}, found `{found}`"))
                }
            },
        };
        None
    }

    /// The answer to a line; `None` where the command has ended.
    fn answer(&mut self, line: &str, clock: &Clock) -> Result<Option<String>, TimeIsOver> {
        if self.running.is_none() {
            self.running = Running::start(&self.command);
        }
        let Some(running) = &self.running else { return Ok(None) };
        // A thread that has ended answers nothing.
        let _ = running.asked.send(line.to_string());
        let start = Instant::now();
        loop {
            match running.said.recv_timeout(PATIENCE.min(clock.left())) {
                Ok(Some(answer)) => return Ok(Some(answer)),
                Ok(None) | Err(RecvTimeoutError::Disconnected) => break,
                Err(RecvTimeoutError::Timeout) if clock.has_time() => {
                    eprintln!("the judge has been asked for {} s", start.elapsed().as_secs());
                }
                Err(RecvTimeoutError::Timeout) => {
                    let _ = self.running.as_mut().map(|running| kill(&mut running.child));
                    self.end();
                    return Err(TimeIsOver);
                }
            }
        }
        self.end();
        Ok(None)
    }

    /// Ends the command.
    fn end(&mut self) {
        let Some(Running { mut child, asked, said }) = self.running.take() else { return };
        // The thread ends and closes the input of the command. A command that does not end then is killed.
        drop((asked, said));
        let start = Instant::now();
        while matches!(child.try_wait(), Ok(None)) {
            if start.elapsed() > LAST {
                kill(&mut child);
                let _ = child.wait();
                return;
            }
            thread::sleep(Duration::from_millis(5));
        }
    }
}

impl Drop for JudgeCommand {
    fn drop(&mut self) {
        self.end();
    }
}

/// The search had to end before the judge has answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct TimeIsOver;

impl Running {
    fn start(command: &str) -> Option<Running> {
        let mut shell = Command::new("sh");
        shell.args(["-c", command]).stdin(Stdio::piped()).stdout(Stdio::piped());
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut shell, 0);
        let mut child = shell.spawn().ok()?;
        let (stdin, stdout) = (child.stdin.take()?, child.stdout.take()?);
        let ((asked, lines), (answers, said)) = (channel(), channel());
        thread::spawn(move || talk(stdin, BufReader::new(stdout), &lines, &answers));
        Some(Running { child, asked, said })
    }
}

/// Kills a command and its children. The command has not been waited for, so no other group has its number.
fn kill(child: &mut Child) {
    if cfg!(unix) {
        // The standard library kills single processes only.
        let group = format!("kill -s KILL -- -{}", child.id());
        let _ = Command::new("sh").args(["-c", &group]).stderr(Stdio::null()).status();
    }
    let _ = child.kill();
}

/// Writes each line and reads an answer to it, until the lines end.
fn talk(
    mut stdin: ChildStdin,
    mut stdout: BufReader<ChildStdout>,
    lines: &Receiver<String>,
    answers: &Sender<Option<String>>,
) {
    for line in lines {
        let mut answer = Vec::new();
        // A command that has not read the line may still have answered.
        let _ = writeln!(stdin, "{line}").and_then(|()| stdin.flush());
        let read = (&mut stdout).take(LONGEST).read_until(b'\n', &mut answer);
        let answer = matches!(read, Ok(n) if n > 0).then(|| String::from_utf8_lossy(&answer).into_owned());
        let ended = answer.is_none();
        if answers.send(answer).is_err() || ended {
            return;
        }
    }
}

/// The cost in an answer, or the error; `None` for any other text.
fn cost(answer: &str) -> Option<Result<i64, String>> {
    let value: Value = serde_json::from_str(answer).ok()?;
    match (value.get("cost"), value.get("error")) {
        (Some(cost), None) => cost.as_i64().filter(|cost| *cost >= 0).map(Ok),
        (None, Some(Value::String(error))) => Some(Err(error.clone())),
        (None, Some(error)) => Some(Err(error.to_string())),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_wait_for_an_answer_ends_with_the_time_of_the_search() {
        let mut silent = JudgeCommand::new("sleep 1000000");
        assert_eq!(silent.answer("{}", &Clock::new(Some(0.0))), Err(TimeIsOver));
        // The command is killed.
        assert!(silent.running.is_none());
        let mut quick = JudgeCommand::new("cat");
        assert_eq!(quick.answer("{}", &Clock::new(None)), Ok(Some("{}\n".to_string())));
    }
}
