//! The page for the browser beside `layout-inspect --json`. `make test` builds the page and names its folder in
//! `LAYOUT_WEB`; without it these tests do nothing.

use crate::browser::Browser;
use crate::members;
use crate::program::run;
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// A browser with the page, with this after its address.
fn page(after: &str) -> Option<Browser> {
    let folder = PathBuf::from(std::env::var_os("LAYOUT_WEB")?);
    let browser = Browser::start()?;
    browser.open(Path::new(&format!("{}{after}", folder.join("index.html").display())));
    Some(browser)
}

/// The value of a promise of the page.
fn awaited(browser: &Browser, expression: &str) -> Value {
    let asked = json!({"expression": expression, "awaitPromise": true, "returnByValue": true});
    let found = browser.devtools("Runtime.evaluate", asked);
    assert!(found["exceptionDetails"].is_null(), "{expression:.200}: {found}");
    found["result"]["value"].clone()
}

/// The page's answers to a line.
fn asked(browser: &Browser, line: &str) -> String {
    awaited(browser, &format!("ask({})", json!(line))).as_str().unwrap().to_string()
}

/// Waits until an expression of the page is true.
fn until(browser: &Browser, expression: &str) {
    let start = Instant::now();
    while browser.script(&format!("return Boolean({expression})")) != true {
        assert!(start.elapsed().as_secs() < 60, "{expression}");
    }
}

/// The program's answers to a line.
fn printed(line: &str) -> String {
    String::from_utf8(run(&["--json"], line.as_bytes()).stdout).unwrap()
}

/// The answers without the time that they took.
fn timeless(answers: &str) -> String {
    let without = |line: &str| match line.split_once("\"ns\":") {
        Some((before, after)) => format!("{before}{}", after.trim_start_matches(|digit: char| digit.is_ascii_digit())),
        None => line.to_string(),
    };
    answers.lines().map(without).collect::<Vec<_>>().join("\n")
}

/// The files of a folder and of those in it that end in this.
fn files(folder: &Path, end: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files(&path, end));
        } else if path.to_string_lossy().ends_with(end) {
            found.push(path);
        }
    }
    found.sort();
    found
}

fn tests() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../test")
}

/// Requests with each member of each operation, right and wrong; and lines that are no requests.
#[test]
fn the_page_answers_as_the_program() {
    let Some(browser) = page("") else { return };
    let mut lines: Vec<String> =
        ["", "{", "[1]", "{\"op\":7}", "{\"op\":\"dance\",\"id\":[\"\u{e9}\"]}"].map(String::from).into();
    for (request, spoilt) in members::operations() {
        lines.push(request.to_string());
        for (member, values, _) in spoilt {
            for value in values {
                let mut wrong = request.clone();
                wrong[member] = value;
                lines.push(wrong.to_string());
            }
        }
    }
    for line in lines {
        assert_eq!(timeless(&asked(&browser, &line)), timeless(&printed(&line)), "{line}");
    }
}

/// The listing, the report, the page and the plan of each program of the tests.
#[test]
fn programs_have_the_same_answers() {
    let Some(browser) = page("") else { return };
    let programs = files(&tests().join("hlo"), ".hlo");
    assert!(programs.len() > 50, "{}", programs.len());
    for file in programs {
        let text = fs::read_to_string(&file).unwrap();
        for more in [
            json!({"op": "hlo"}),
            json!({"op": "hlo", "summary": true, "top": 20}),
            json!({"op": "hlo", "html": true}),
            json!({"op": "plan", "machine": "tpu_v5e", "entry": "free", "seconds": 600}),
        ] {
            let mut request = more;
            request["text"] = json!(text);
            let line = request.to_string();
            assert_eq!(asked(&browser, &line), printed(&line), "{} {:.100}", file.display(), line);
        }
    }
}

/// Deep nesting takes no more stack than there is; a panic has its message, and the next request is answered.
#[test]
fn nothing_ends_the_page() {
    let Some(browser) = page("") else { return };
    let nested = |open: &str, close: &str, depth: usize| open.repeat(depth) + "f32[2]" + &close.repeat(depth);
    for text in [nested("(", ")", 256), nested("(", ")", 100_000), nested("((", "))", 5000)] {
        for op in ["layout", "draw"] {
            let line = json!({"op": op, "text": text}).to_string();
            assert_eq!(asked(&browser, &line), printed(&line), "{line:.100}");
        }
    }
    for line in ["[".repeat(100_000), json!({"op": "algebra", "of": "(".repeat(100_000)}).to_string()] {
        assert_eq!(asked(&browser, &line), printed(&line), "{line:.100}");
    }
    let panics = "module.then((module) => {
        const imports = { now: () => 0, fail: (at, bytes) => {
            throw new TextDecoder().decode(new Uint8Array(memory.buffer, at, bytes)) } };
        let memory;
        return WebAssembly.instantiate(module, { page: imports }).then(({ exports }) => {
            memory = exports.memory;
            try { exports.room(-1) } catch (said) { return said } }) })";
    let said = awaited(&browser, panics);
    assert!(said.as_str().unwrap().starts_with("internal error: capacity overflow ("), "{said}");
    let failed = "(() => { const own = ask('{}'); worker.onmessage({ data: { failure: 'a bug' } }); return own })()";
    let failed: Value = serde_json::from_str(awaited(&browser, failed).as_str().unwrap()).unwrap();
    assert_eq!(failed, json!({"ok": false, "kind": "internal", "error": "a bug"}));
    let line = r#"{"op":"version"}"#;
    assert_eq!(asked(&browser, line), printed(line));
}

/// `Cancel` ends a request, and the next one is answered.
#[test]
fn a_request_is_cancelled() {
    let Some(browser) = page("") else { return };
    let long = json!({"op": "machine", "machine": "cpu", "measure": true}).to_string();
    browser.script(&format!("ask({}, 'Long', 9)", json!(long)));
    until(&browser, "!document.getElementById('work').hidden");
    browser.script("document.querySelector('#work button').click()");
    until(&browser, "document.getElementById('work').hidden");
    assert_eq!(browser.script("return document.querySelector('#program .result').textContent"), "Cancelled.");
    let line = r#"{"op":"version"}"#;
    assert_eq!(asked(&browser, line), printed(line));
}

/// A link has what was typed, and opens to its result.
#[test]
fn a_link_holds_what_was_typed() {
    let Some(browser) = page("#layout?text=f32%5B3%2C5%5D%7B1%2C0%3AT%282%2C2%29%7D&machine=cpu&element=f32") else {
        return;
    };
    until(
        &browser,
        "document.querySelector('#layout .result img') && document.querySelectorAll('#layout table').length == 2",
    );
    let text = browser.script("return document.querySelector('#layout .result').textContent");
    for part in ["(d0 floordiv 2)", "padded bytes96", "cute", "default{1,0}"] {
        assert!(text.as_str().unwrap().contains(part), "{part}: {text}");
    }
    browser.script("const form = document.forms.algebra; location.hash = '#algebra'; form.elements.of.value = '4:1 o'; form.requestSubmit()");
    until(&browser, "document.querySelector('#algebra .wrong')");
    assert_eq!(browser.script("return location.hash"), "#algebra?of=4%3A1+o");
    assert_eq!(browser.script("return document.querySelectorAll('form.shown').length"), 1);
    browser.script("document.forms.map.requestSubmit()");
    until(&browser, "document.querySelector('#map tbody tr')");
}

/// The report is inside the page, and runs its own script; a program that was dropped packed is read.
#[test]
fn the_report_of_a_file() {
    let Some(browser) = page("") else { return };
    let text = fs::read_to_string(tests().join("hlo/mlp_train_step.opt.hlo")).unwrap();
    let packed = format!(
        "new Response(new Blob([{}]).stream().pipeThrough(new CompressionStream('gzip'))).arrayBuffer()
             .then((packed) => load(document.forms.program.elements.text, [
                 new File([packed], 'step.hlo.gz'), new File(['not this'], 'a.txt')]))",
        json!(text)
    );
    awaited(&browser, &packed);
    until(&browser, "document.querySelector('#program iframe')");
    let html = browser.script("return document.querySelector('#program iframe').srcdoc");
    let line = json!({"op": "hlo", "html": true, "text": text}).to_string();
    let wanted: Value = serde_json::from_str(&printed(&line)).unwrap();
    assert_eq!(html, wanted["html"]);
    let output = browser.script("return document.querySelector('#program output').textContent");
    assert!(output.as_str().unwrap().starts_with("step.hlo.gz, "), "{output}");
}

/// The policy lets the page load nothing and send nothing.
#[test]
fn nothing_leaves_the_browser() {
    let Some(browser) = page("") else { return };
    let tried = "Promise.all([fetch('https://localhost/').then(() => 1, () => 0), new Promise((take) => {
        const image = new Image(); image.onload = () => take(1); image.onerror = () => take(0); image.src = 'https://localhost/a.png' })])";
    let refused = "(window.refused = [], document.addEventListener('securitypolicyviolation', (event) => refused.push(event.effectiveDirective)))";
    browser.script(refused);
    assert_eq!(awaited(&browser, tried), json!([0, 0]));
    until(&browser, "window.refused.length == 2");
    assert_eq!(browser.script("return window.refused.sort()"), json!(["connect-src", "img-src"]));
}

/// The first answer of a page that was just opened, the report of 40,000 instructions, and the bytes to load. The limits are
/// those of a computer that has much other work.
#[test]
fn answers_come_soon() {
    let Some(browser) = page("#layout?text=f32%5B8%5D") else { return };
    until(&browser, "document.querySelector('#layout dl')");
    let first = browser.script("return performance.getEntriesByName('answered')[0].startTime");
    assert!(first.as_f64().unwrap() < 5000.0, "{first} ms");
    let line = json!({"op": "hlo", "html": true, "text": crate::page::large()}).to_string();
    let start = Instant::now();
    assert_eq!(asked(&browser, &line), printed(&line));
    assert!(start.elapsed().as_secs() < 100, "{:?}", start.elapsed());
    let size = fs::metadata(PathBuf::from(std::env::var_os("LAYOUT_WEB").unwrap()).join("index.html")).unwrap().len();
    assert!(size < 2 << 20, "{size} bytes");
}
