//! A judge: a command that gets plans, a line of JSON each, and answers with what each costs.
//!
//! `{"entry":{"in":["{1,0}"],"out":["{0,1}"]},"values":{..}}` is answered `{"cost":1234}`, or `{"error":"why"}` where the
//! plan has no cost. The command is run by the shell, and asked again as long as it runs; one that ends after an answer is
//! started again for the next plan.

use super::answer::PlanAnswer;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

/// A judge that is asked one plan after the other.
pub struct JudgeCommand {
    command: String,
    running: Option<(Child, ChildStdin, BufReader<ChildStdout>)>,
    /// Why nothing can be asked.
    pub broken: Option<String>,
}

impl JudgeCommand {
    /// A judge that is not started yet.
    pub fn new(command: &str) -> JudgeCommand {
        JudgeCommand { command: command.to_string(), running: None, broken: None }
    }

    /// What the plan costs, or why it has no cost.
    pub fn ask(&mut self, plan: &PlanAnswer) -> Result<i64, String> {
        if let Some(broken) = &self.broken {
            return Err(broken.clone());
        }
        let line = json!({"entry": plan.entry, "values": plan.values}).to_string();
        // What has ended after its last answer is started again, once.
        let known = self.running.is_some();
        let mut answer = self.answer(&line);
        if known && answer.is_none() {
            answer = self.answer(&line);
        }
        let Some(answer) = answer else {
            let broken = "the judge ended without an answer".to_string();
            self.broken = Some(broken.clone());
            return Err(broken);
        };
        let value: Value = serde_json::from_str(&answer).unwrap_or(Value::Null);
        match (value.get("cost").and_then(Value::as_i64), value.get("error")) {
            (Some(cost), None) => Ok(cost),
            (None, Some(Value::String(error))) => Err(error.clone()),
            (None, Some(error)) => Err(error.to_string()),
            _ => {
                let found: String = answer.trim().chars().take(80).collect();
                let broken = format!("expected `{{\"cost\":n}}` or `{{\"error\":..}}` of the judge, found `{found}`");
                self.broken = Some(broken.clone());
                Err(broken)
            }
        }
    }

    /// Writes a line and reads one; `None` where the command has ended.
    fn answer(&mut self, line: &str) -> Option<String> {
        if self.running.is_none() {
            let mut child = Command::new("sh")
                .args(["-c", &self.command])
                .stdin(Stdio::piped())
                .stdout(Stdio::piped())
                .spawn()
                .ok()?;
            let (stdin, stdout) = (child.stdin.take()?, child.stdout.take()?);
            self.running = Some((child, stdin, BufReader::new(stdout)));
        }
        let (_, stdin, stdout) = self.running.as_mut()?;
        let mut answer = String::new();
        let asked = writeln!(stdin, "{line}").and_then(|()| stdin.flush());
        let read = asked.and_then(|()| stdout.read_line(&mut answer));
        if matches!(read, Ok(n) if n > 0) {
            return Some(answer);
        }
        self.end();
        None
    }

    /// Ends the command: nothing more is asked.
    fn end(&mut self) {
        if let Some((mut child, stdin, stdout)) = self.running.take() {
            drop((stdin, stdout));
            let _ = child.wait();
        }
    }
}

impl Drop for JudgeCommand {
    fn drop(&mut self) {
        self.end();
    }
}
