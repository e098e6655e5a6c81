//! A judge: a command that gets questions, a line of JSON each, and answers with a cost.
//!
//! `{"question":"plan","entry":{"in":["{1,0}"],"out":["{0,1}"]},"values":{..}}` is answered `{"cost":1234}`, or
//! `{"error":"why"}` where the plan has no cost. The question `default` is about the judge's default layouts of arguments
//! and results, beside the machine's, and `auto`, which has no entry, about those that the judge chooses. `inner` is about a
//! plan whose layouts of all values hold, too. With a cost may come the `entry` that it is the cost of, and `copies`,
//! `{"in":0,"from":"{1,0}","to":"{0,1}"}`: the arguments that are only copied, and the results that are copies. A
//! `read back` is a plan with the layouts beyond such copies.
//!
//! The shell runs the command, which is asked as long as it runs; if it ends after an answer, it is started again for the
//! next plan. A thread writes and reads, so the search's deadline ends the wait for an answer. The command is a process
//! group: killing it kills the processes that it started.

use super::answer::{EntryArrays, PlanAnswer, question_name};
use crate::clock::Clock;
use layout_plan::plan::{EntryOrders, Price, Question};
use serde::Deserialize;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};
use tensor_layout::tiled::Layout;

/// The most bytes of an answer. A compiler's error may have many lines.
const LONGEST: u64 = 1 << 20;

/// The interval between messages that the judge is still awaited.
const PATIENCE: Duration = Duration::from_secs(10);

/// The time for a judge to end after its last answer.
const LAST: Duration = Duration::from_secs(1);

const ENDED: &str = "the judge ended without an answer";

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

    /// The answer to a question, or why there is none; `None` where the time is over, or the judge is broken.
    pub fn ask(&mut self, question: Question, plan: &PlanAnswer, clock: &Clock) -> Option<Result<Price, String>> {
        let name = question_name(question);
        let line = match question {
            Question::Auto => json!({"question": name}),
            _ => json!({"question": name, "entry": plan.entry, "values": plan.values}),
        };
        let line = line.to_string();
        // A command that has ended after its last answer is started again, once.
        let known = self.running.is_some();
        let mut answer = self.answer(&line, clock);
        if known && answer == Ok(None) {
            answer = self.answer(&line, clock);
        }
        self.broken = match answer {
            Err(TimeIsOver) => None,
            // A judge of before this question may end at it.
            Ok(None) if matches!(question, Question::Auto | Question::Inner) => return Some(Err(ENDED.to_string())),
            Ok(None) => Some(ENDED.to_string()),
            Ok(Some(answer)) => match price(&answer, &plan.entry) {
                Ok(price) => return Some(price),
                Err(why) => {
                    let found: String = answer.trim().chars().take(80).collect();
                    let expected = "expected `{\"cost\":n}`, n from 0 in 64 bits, or `{\"error\":..}` of the judge";
                    Some(format!("{expected}, found `{found}`: {why}"))
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

/// An answer, of which a cost or an error is there.
#[derive(Deserialize)]
struct JudgeAnswer {
    cost: Option<i64>,
    error: Option<Value>,
    entry: Option<EntryArrays>,
    #[serde(default)]
    copies: Vec<BoundaryCopy>,
}

/// A copy of an argument or a result.
#[derive(Deserialize)]
struct BoundaryCopy {
    #[serde(rename = "in")]
    argument: Option<usize>,
    #[serde(rename = "out")]
    result: Option<usize>,
    from: String,
    to: String,
}

/// The price in an answer about a plan with this entry, or the error; why any other text is none.
fn price(answer: &str, asked: &EntryArrays) -> Result<Result<Price, String>, String> {
    let answer: JudgeAnswer = serde_json::from_str(answer).map_err(|error| error.to_string())?;
    let cost = match (answer.cost, answer.error) {
        (Some(cost), None) if cost >= 0 => cost,
        (None, Some(Value::String(error))) => return Ok(Err(error)),
        (None, Some(error)) => return Ok(Err(error.to_string())),
        (Some(_), None) => return Err("`cost` is below 0".to_string()),
        _ => return Err("there is not one of `cost` and `error`".to_string()),
    };
    let entry = answer.entry.map(|entry| orders(&entry, asked)).transpose()?;
    let mut beyond = entry.clone().map_or_else(|| orders(asked, asked), Ok)?;
    for (k, copy) in answer.copies.iter().enumerate() {
        let (side, number, first, other) = match (copy.argument, copy.result) {
            (Some(number), None) => (&asked.arguments, number, 0, &copy.to),
            (None, Some(number)) => (&asked.results, number, asked.arguments.len(), &copy.from),
            _ => return Err(format!("`copies[{k}]` has not one of `in` and `out`")),
        };
        let own = side.get(number).ok_or_else(|| format!("in `copies[{k}]`, there is no array {number}"))?;
        beyond[first + number] = order(other, own).map_err(|why| format!("in `copies[{k}]`, {why}"))?;
    }
    let read_back = (!answer.copies.is_empty()).then_some(beyond);
    Ok(Ok(Price { cost, entry, read_back }))
}

/// The orders of an entry of the same arrays as another.
fn orders(entry: &EntryArrays, asked: &EntryArrays) -> Result<EntryOrders, String> {
    let sides = [("in", &entry.arguments, &asked.arguments), ("out", &entry.results, &asked.results)];
    let mut all = EntryOrders::new();
    for (name, found, asked) in sides {
        if found.len() != asked.len() {
            return Err(format!("`entry.{name}` must have {} layouts, found {}", asked.len(), found.len()));
        }
        for (k, (found, asked)) in found.iter().zip(asked).enumerate() {
            all.push(order(found, asked).map_err(|why| format!("in `entry.{name}[{k}]`, {why}"))?);
        }
    }
    Ok(all)
}

/// The order of a layout of the same array as another.
fn order(text: &str, asked: &str) -> Result<Vec<usize>, String> {
    let [found, asked] = [text, asked].map(Layout::parse);
    let (found, asked) = (found.map_err(|error| error.message)?, asked.map_err(|error| error.message)?);
    if found.rank() == asked.rank() {
        return Ok(found.minor_to_major);
    }
    Err(format!("a layout must have {} dimensions, found `{text}`", asked.rank()))
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
