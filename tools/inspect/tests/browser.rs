//! Headless Chromium, driven by ChromeDriver (WebDriver, JSON over HTTP). Shared by tests; no test by itself.
//!
//! `tools/setup.sh` installs both, from Debian. Without them there is no [`Browser`], and the tests that need one fail
//! where the environment has `CI`; elsewhere they say on standard error that they test nothing.

use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};

/// Keys in WebDriver's encoding.
pub const ENTER: &str = "\u{e007}";
pub const ESCAPE: &str = "\u{e00c}";
pub const RIGHT: &str = "\u{e014}";
pub const TAB: &str = "\u{e004}";

/// A browser with one window, closed when the value is dropped.
pub struct Browser {
    driver: Child,
    port: u16,
    session: String,
    /// A new profile, removed at the end.
    profile: PathBuf,
}

impl Browser {
    /// Starts a browser; `None` where ChromeDriver is not installed and the environment has no `CI`.
    pub fn start() -> Option<Browser> {
        static NUMBER: AtomicUsize = AtomicUsize::new(0);
        let driver = Command::new("chromedriver").arg("--port=0").stdout(Stdio::piped()).stderr(Stdio::null()).spawn();
        let Ok(mut driver) = driver else {
            const MISSING: &str =
                "no chromedriver on the PATH: nothing is tested in a browser (tools/setup.sh installs it)";
            assert!(std::env::var_os("CI").is_none(), "{MISSING}");
            // The test harness captures output of macros; this message is always seen.
            let test = std::thread::current();
            let _ = writeln!(std::io::stderr(), "WARNING: {}: {MISSING}", test.name().unwrap_or("a test"));
            return None;
        };
        let mut port = None;
        // The pipe stays open, since ChromeDriver may print more.
        let said = driver.stdout.as_mut().unwrap();
        for line in BufReader::new(said).lines() {
            port = line
                .unwrap()
                .rsplit_once("started successfully on port ")
                .and_then(|(_, n)| n.trim_end_matches('.').parse().ok());
            if port.is_some() {
                break;
            }
        }
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let profile = format!("profile-{}-{number}", std::process::id());
        let profile = Path::new(env!("CARGO_TARGET_TMPDIR")).join(profile);
        let mut browser = Browser { driver, port: port.unwrap(), session: String::new(), profile };
        let arguments = [
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-quic",
            "--no-first-run",
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-sync",
            "--hide-scrollbars",
            "--force-device-scale-factor=1",
            "--window-size=1000,800",
            "--font-render-hinting=none",
            // No name resolves: every network access of the page fails.
            "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE localhost",
            &format!("--user-data-dir={}", browser.profile.display()),
        ];
        let options = json!({"args": arguments});
        let wanted = json!({"capabilities": {"alwaysMatch": {"browserName": "chrome", "goog:chromeOptions": options}}});
        let session = browser.call("POST", "/session", Some(wanted));
        browser.session = session["sessionId"].as_str().unwrap().to_string();
        Some(browser)
    }

    /// Sends a request to ChromeDriver; returns the value of its answer.
    fn call(&self, method: &str, path: &str, body: Option<Value>) -> Value {
        let body = body.map_or(String::new(), |body| body.to_string());
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        let length = body.len();
        write!(
            stream,
            "{method} {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\
             Connection: close\r\n\r\n{body}"
        )
        .unwrap();
        let mut reader = BufReader::new(stream);
        let (mut line, mut length) = (String::new(), 0);
        while reader.read_line(&mut line).unwrap() > 2 {
            let header = line.to_ascii_lowercase();
            if let Some(value) = header.strip_prefix("content-length:") {
                length = value.trim().parse().unwrap();
            }
            line.clear();
        }
        let mut answer = vec![0; length];
        reader.read_exact(&mut answer).unwrap();
        let answer: Value = serde_json::from_slice(&answer).unwrap();
        assert!(answer["value"]["error"].is_null(), "{method} {path} {body:.300}: {answer}");
        answer["value"].clone()
    }

    fn post(&self, path: &str, body: Value) -> Value {
        self.call("POST", &format!("/session/{}{path}", self.session), Some(body))
    }

    /// Opens a file.
    pub fn open(&self, file: &Path) {
        self.post("/url", json!({"url": format!("file://{}", file.display())}));
    }

    /// The result of a function with this body.
    pub fn script(&self, body: &str) -> Value {
        self.post("/execute/sync", json!({"script": body, "args": []}))
    }

    /// Presses and releases keys, one after the other.
    pub fn press(&self, keys: &[&str]) {
        let action = |key: &&str| ["keyDown", "keyUp"].map(|what| json!({"type": what, "value": key}));
        let actions: Vec<Value> = keys.iter().flat_map(action).collect();
        self.post("/actions", json!({"actions": [{"type": "key", "id": "keyboard", "actions": actions}]}));
    }

    /// Moves the pointer to the middle of the first element of a selector.
    pub fn point(&self, selector: &str) {
        let place = self.script(&format!(
            "const part = document.querySelector(`{selector}`);
             part.scrollIntoView({{block: 'center'}});
             const box = part.getBoundingClientRect();
             return [box.left + box.width / 2, box.top + box.height / 2];"
        ));
        let [x, y] = [0, 1].map(|k| place[k].as_f64().unwrap().round() as i64);
        let action = json!({"type": "pointerMove", "x": x, "y": y, "duration": 0});
        self.post("/actions", json!({"actions": [{"type": "pointer", "id": "mouse", "actions": [action]}]}));
    }

    /// A command of the DevTools protocol.
    pub fn devtools(&self, command: &str, parameters: Value) -> Value {
        self.post("/goog/cdp/execute", json!({"cmd": command, "params": parameters}))
    }

    /// Emulates a medium and a colour scheme.
    pub fn media(&self, medium: &str, scheme: &str) {
        let features = json!([{"name": "prefers-color-scheme", "value": scheme}]);
        self.devtools("Emulation.setEmulatedMedia", json!({"media": medium, "features": features}));
    }

    /// The whole page, at most `height` pixels high, as PNG.
    pub fn screenshot(&self, height: u64) -> Vec<u8> {
        let all = self.script("return document.documentElement.scrollHeight").as_u64().unwrap();
        let clip = json!({"x": 0, "y": 0, "width": 1000, "height": all.min(height), "scale": 1});
        let wanted = json!({"format": "png", "captureBeyondViewport": true, "clip": clip});
        decoded(self.devtools("Page.captureScreenshot", wanted)["data"].as_str().unwrap())
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        if !self.session.is_empty() && !std::thread::panicking() {
            self.call("DELETE", &format!("/session/{}", self.session), None);
        } else if let Ok(mut stream) = TcpStream::connect(("127.0.0.1", self.port)) {
            // The test has failed, perhaps because of the driver: its answer may never come.
            let _ = write!(stream, "GET /shutdown HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
            let _ = stream.set_read_timeout(Some(std::time::Duration::from_secs(5)));
            let _ = stream.read(&mut [0; 64]);
        }
        let _ = self.driver.kill();
        let _ = self.driver.wait();
        let _ = std::fs::remove_dir_all(&self.profile);
    }
}

/// The bytes of a base-64 text.
fn decoded(text: &str) -> Vec<u8> {
    const DIGITS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut bytes = Vec::new();
    let (mut bits, mut held) = (0_u32, 0);
    for digit in text.bytes().filter(|digit| *digit != b'=') {
        bits = bits << 6 | DIGITS.iter().position(|known| *known == digit).unwrap() as u32;
        held += 6;
        if held >= 8 {
            held -= 8;
            bytes.push((bits >> held) as u8);
            bits &= (1 << held) - 1;
        }
    }
    bytes
}
