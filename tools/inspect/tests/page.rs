//! `layout-inspect hlo --html`: the page as text, and in a browser.

use crate::browser::{Browser, ENTER, ESCAPE, RIGHT, TAB};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

const NARROW: &str = "HloModule narrow, is_scheduled=true

ENTRY main {
  x = f32[1000,3]{1,0:T(8,128)} parameter(0), metadata={op_name=\"x\"}
  c = f32[1000,3]{0,1:T(4,128)} copy(x), metadata={op_name=\"jit(f)/neg\" source_file=\"f.py\" source_line=7}
  n = f32[1000,3]{0,1:T(4,128)} negate(c), metadata={op_name=\"jit(f)/neg\" source_file=\"f.py\" source_line=7}
  ROOT y = f32[3,1000]{1,0:T(4,128)} transpose(n), dimensions={1,0}, metadata={op_name=\"jit(f)/t\" source_file=\"f.py\" source_line=8}
}
";

fn here(name: &str) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(name)
}

/// The output of the program with these arguments after `hlo`.
fn printed(arguments: &[&str], input: &str) -> String {
    let output = crate::program::run(&[&["hlo"], arguments].concat(), input.as_bytes());
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap()
}

/// The page of a program, in a file of this name.
fn page(name: &str, input: &str, options: &[&str]) -> PathBuf {
    let path = here(name);
    let printed = printed(&[&["-", "--html", path.to_str().unwrap()], options].concat(), input);
    assert_eq!(printed, "");
    path
}

/// A program of `test/hlo`.
fn known(name: &str) -> String {
    std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../test/hlo").join(name)).unwrap()
}

/// A program with markup in every text that may hold any.
fn hostile() -> String {
    let markup = "</script><script>document.title='run'</script><img src=http://localhost/x onerror=alert(1)>&amp;'";
    NARROW.replace("jit(f)/neg", markup).replace("f.py", &format!("{markup}.py"))
}

#[test]
fn texts_are_no_markup() {
    let text = printed(&["-", "--html", "-", "--plan"], &hostile()).replace("<wbr>", "");
    assert!(text.contains("&lt;script&gt;document.title"), "{text}");
    for markup in ["<script>document", "<img", "&amp;'"] {
        assert!(!text.contains(markup), "{markup}");
    }
    assert_eq!(text.matches("</script").count(), 2, "that of the data and that of the script");
}

#[test]
fn warnings_about_the_text_are_on_the_page() {
    let text = printed(&["-", "--html", "-"], &NARROW.replace("copy(x)", "copy(x), quantized=\"<b>\""));
    assert_eq!(text.matches("Warning: unknown attribute `quantized`, which is skipped").count(), 1, "{text}");
    assert!(!printed(&["-", "--html", "-"], NARROW).contains("Warning:"));
}

#[test]
fn nothing_is_loaded() {
    let text = printed(&["-", "--html", "-", "--plan"], NARROW);
    for loading in ["src=", "url(", "@import", "<link", "fetch(", "XMLHttpRequest"] {
        assert!(!text.contains(loading), "{loading}");
    }
    // The only address is the namespace of SVG.
    assert_eq!(text.matches("http").count(), text.matches("http://www.w3.org/2000/svg").count() + 1);
    assert!(text.contains("<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none';"));
}

/// A program of 40 thousand instructions, 4 MB, each with its own shape and source line.
pub fn large() -> String {
    let mut text = String::from(
        "HloModule large, is_scheduled=true\n\nENTRY main {\n  i0 = f32[8,100]{1,0:T(8,128)} parameter(0)\n",
    );
    for k in 1..40_000 {
        let shape = format!("f32[{},{}]{{1,0:T(8,128)}}", k % 900 + 1, k % 257 + 1);
        let metadata = format!("metadata={{op_name=\"jit(f)/layer_{k}\" source_file=\"f.py\" source_line={k}}}");
        let call = format!("custom-call(i{}), custom_call_target=\"f\"", k - 1);
        text += &format!("  {}i{k} = {shape} {call}, {metadata}\n", if k == 39_999 { "ROOT " } else { "" });
    }
    text + "}\n"
}

#[test]
fn the_page_of_a_large_program_is_small() {
    crate::long_test!();
    let program = large();
    assert!(program.len() > 4 << 20, "{}", program.len());
    let text = printed(&["-", "--html", "-"], &program);
    assert!(text.len() < 2_000_000, "{}", text.len());
    // The 30 largest and the 30 with most padding, some of them the same; the others; and those that a search finds.
    let shown = text.matches("<td class=\"bar\"><svg").count();
    assert!((30..=60).contains(&shown), "{shown}");
    assert!((1000..=1030).contains(&(shown + text.matches("<tr hidden>").count())));
    assert!(text.contains(&format!("{} others</th>", grouped(40_000 - shown))), "{shown}");
}

/// Names of 10,000 letters, and signs that turn the direction of what is behind them.
#[test]
fn long_texts_are_cut_and_none_turns() {
    let long = "n".repeat(10_000);
    let mut text = format!("HloModule {long}, is_scheduled=true\n\nENTRY main {{\n");
    text += &format!("  {long}0 = f32[8,3]{{1,0:T(8,128)}} parameter(0)\n");
    for k in 1..50 {
        let layout = if k % 2 == 0 { "{1,0:T(8,128)}" } else { "{0,1:T(4,128)}" };
        let metadata = format!("op_name=\"\u{202e}{long}\" source_file=\"{long}{k}.py\" source_line={k}");
        let root = if k == 49 { "ROOT " } else { "" };
        text += &format!("  {root}{long}{k} = f32[8,3]{layout} copy({long}{}), metadata={{{metadata}}}\n", k - 1);
    }
    let page = printed(&["-", "--html", "-"], &(text + "}\n"));
    assert!(page.len() < 1_000_000, "{}", page.len());
    // Advice has whole names, so that its code runs.
    let tensors = page.split("id=\"tensors\"").nth(1).unwrap().replace("<wbr>", "");
    assert!(tensors.contains(&"n".repeat(190)) && !tensors.contains(&"n".repeat(201)));
    assert!(!page.contains('\u{202e}') && page.contains('\u{fffd}'));
}

fn grouped(n: usize) -> String {
    format!("{},{:03}", n / 1000, n % 1000)
}

#[test]
fn what_does_not_go_together() {
    let refused = |arguments: &[&str]| {
        let output = crate::program::run(&[&["hlo"], arguments].concat(), NARROW.as_bytes());
        (output.status.code(), String::from_utf8(output.stderr).unwrap())
    };
    for arguments in [
        &["-", "--plan"][..],
        &["-", "--html", "-", "--json"],
        &["-", "--html", "-", "--all"],
        &["-", "--html", "-", "--seconds", "1"],
    ] {
        assert_eq!(refused(arguments).0, Some(2), "{arguments:?}");
    }
    let several = refused(&["-", "-", "--html", "-"]);
    assert_eq!(several, (Some(1), "error: --html must have one file, found 2\n".to_string()));
    let long = refused(&["-", "--html", "-", "--plan", "--seconds=-1"]);
    assert_eq!(long, (Some(1), "error: expected a number of seconds from 0, found `-1`\n".to_string()));
    let over = refused(&["-", "--html", "-", "--fail-over", "1.5x"]);
    assert!(over.1.contains("found 15.13x"), "{over:?}");
}

/// The numbers in each row of the tables in such a part of the page.
fn figures(browser: &Browser, part: &str) -> Value {
    browser.script(&format!(
        "const number = (cell) => Number(cell.querySelector('data').value);
         return [...document.querySelectorAll(`{part} tbody tr`)].map((row) =>
             [...row.querySelectorAll('td')].filter((cell) => cell.querySelector('data')).map(number));"
    ))
}

/// The numbers of each memory in a report, as the page's table of totals has them.
fn memory_rows(report: &Value) -> Vec<Value> {
    let row = |memory: &Value| {
        let [arguments, outputs, constants] =
            ["arguments", "outputs", "constants"].map(|part| memory[part]["padded"].clone());
        json!([arguments, outputs, constants, memory["temporaries"], memory["peak"]["bytes"]])
    };
    report["spaces"].as_array().unwrap().iter().map(row).collect()
}

/// The bytes of what is live at the peak of each memory, as the page lists it.
fn live_rows(report: &Value) -> Vec<Value> {
    let row = |live: &Value| json!([live["padded_bytes"], live["logical_bytes"]]);
    let all = report["spaces"].as_array().unwrap().iter().filter(|memory| memory["peak"]["bytes"] != json!(0));
    all.flat_map(|memory| memory["peak"]["buffers"]["entries"].as_array().unwrap()).map(row).collect()
}

/// The page shows the report's numbers, to the byte.
#[test]
fn the_numbers_of_the_report() {
    let Some(browser) = Browser::start() else { return };
    for (name, text) in [("narrow", NARROW.to_string()), ("mlp", known("mlp_train_step.opt.hlo"))] {
        let report: Value =
            serde_json::from_str(&printed(&["-", "--summary", "--json", "--top", "30"], &text)).unwrap();
        browser.open(&page(&format!("numbers-{name}.html"), &text, &[]));
        assert_eq!(figures(&browser, "section[aria-labelledby=totals]"), json!(memory_rows(&report)), "{name}");
        assert_eq!(figures(&browser, "[aria-label^='Table of what is live']"), json!(live_rows(&report)), "{name}");
        let own = |list: &str| -> Vec<Value> {
            let share = |share: &Value| json!([share["padded"], share["logical"]]);
            report["peak"][list]["entries"].as_array().unwrap().iter().map(share).collect()
        };
        assert_eq!(
            figures(&browser, "section[aria-labelledby=origins]"),
            json!([own("lines"), own("scopes")].concat()),
            "{name}"
        );
        let tensors = figures(&browser, "section[aria-labelledby=tensors]");
        for worst in report["worst"].as_array().unwrap() {
            let (padded, logical) = (worst["padded_bytes"].as_i64().unwrap(), worst["logical_bytes"].as_i64().unwrap());
            let row = json!([padded, logical, padded - logical]);
            let found = tensors
                .as_array()
                .unwrap()
                .iter()
                .any(|found| found.as_array().unwrap()[..3] == row.as_array().unwrap()[..]);
            assert!(found, "{name}: {row} in {tensors}");
        }
        // The bars are as long as the numbers say.
        let bars = browser.script(
            "return [...document.querySelectorAll('section[aria-labelledby=tensors] tbody tr:not([hidden])')].map((row) => {
                 const [padding, data] = [...row.querySelectorAll('rect')].map((bar) => bar.getBoundingClientRect().width);
                 const [takes, own] = [...row.querySelectorAll('data')].map((cell) => Number(cell.value));
                 return [padding * own, data * takes, 0.1 * takes];
             });",
        );
        for bar in bars.as_array().unwrap() {
            let [padding, data, most] = [0, 1, 2].map(|k| bar[k].as_f64().unwrap());
            assert!((padding - data).abs() <= most, "{name}: {bar}");
        }
        let moves =
            browser.script("return [...document.querySelectorAll('article h3 data')].map((n) => Number(n.value))");
        let own: Vec<Value> =
            report["relayouts"].as_array().unwrap().iter().map(|moved| moved["bytes"].clone()).collect();
        assert_eq!(moves, json!(own), "{name}");
    }
}

/// The plan's numbers are those of `layout-inspect plan`.
#[test]
fn the_numbers_of_the_plan() {
    crate::long_test!();
    let Some(browser) = Browser::start() else { return };
    for entry in ["free", "fixed", "default"] {
        let wanted = ["plan", "-", "--machine", "tpu_v5e", "--entry", entry, "--json", "--compare"];
        let output = crate::program::run(&wanted, NARROW.as_bytes());
        let plan: Value = serde_json::from_slice(&output.stdout).unwrap();
        browser.open(&page(&format!("plan-{entry}.html"), NARROW, &["--plan", "--entry", entry]));
        let number = "const number = (cell) => Number((cell.querySelector('data')?.value ?? cell.textContent).replaceAll(',', ''));";
        let found = browser.script(&format!(
            "{number} const [rows, changes, moved] = document.querySelectorAll('section[aria-labelledby=plan] table');
             return [[...rows.tBodies[0].rows].map((row) => [...row.querySelectorAll('td')].map(number)),
                     [...changes.tBodies[0].rows].map((row) => [row.cells[0].textContent, row.cells[2].textContent]),
                     [...moved.tBodies[0].rows].filter((row) => row.cells.length > 1).map((row) => [row.cells[0].textContent, number(row.cells[4]), number(row.cells[5])])]"
        ));
        let of = |plan: &Value| -> Vec<i64> {
            let bytes = |moved: &Value| moved["bytes"].as_i64().unwrap();
            let moved = plan["relayouts"].as_array().unwrap();
            let mut all = vec![plan["cost"].as_i64().unwrap(), moved.len() as i64, moved.iter().map(bytes).sum()];
            for memory in plan["memories"].as_array().unwrap() {
                all.push(memory["padding"].as_i64().unwrap());
            }
            all
        };
        let given = (!plan["compare"].is_null()).then(|| of(&plan["compare"]));
        assert_eq!(given.is_some(), entry != "default", "{plan}");
        let row = |(k, own): (usize, i64)| {
            let given = given.as_ref().map(|given| given[k]);
            // An empty cell counts as 0.
            json!([given.unwrap_or(0), own, given.map_or(0, |given| given - own)])
        };
        let rows: Vec<Value> = of(&plan).into_iter().enumerate().map(row).collect();
        assert_eq!(found[0], json!(rows), "{entry}");
        let changed = match entry {
            "fixed" => json!([
                ["c", "f32[1000,3]{1,0:T(8,128)}"],
                ["n", "f32[1000,3]{1,0:T(8,128)}"],
                ["y", "f32[3,1000]{0,1:T(8,128)}"]
            ]),
            _ => json!([["x", "f32[1000,3]{0,1:T(4,128)}"]]),
        };
        assert_eq!(found[1], changed, "{entry}");
        let moved = |moved: &Value| json!([moved["at"], moved["bytes"], moved["cost"]]);
        let moved: Vec<Value> = plan["relayouts"].as_array().unwrap().iter().map(moved).collect();
        assert_eq!(found[2], json!(moved), "{entry}");
    }
}

#[test]
fn hostile_texts_stay_texts() {
    let Some(browser) = Browser::start() else { return };
    browser.open(&page("hostile.html", &hostile(), &["--plan"]));
    let found = browser.script(
        "return [document.title, document.scripts.length, document.images.length,
                 performance.getEntriesByType('resource').length, document.querySelectorAll('main > *').length];",
    );
    assert_eq!(found, json!(["Memory of narrow", 2, 0, 0, 8]));
    let texts = browser.script("return document.querySelector('#origins').parentElement.textContent");
    assert!(texts.as_str().unwrap().contains("</script><script>document.title='run'</script>"), "{texts}");
}

#[test]
fn the_keyboard_is_enough() {
    crate::long_test!();
    let Some(browser) = Browser::start() else { return };
    browser.open(&page("keyboard.html", NARROW, &["--plan"]));
    let focus = |selector: &str| browser.script(&format!("document.querySelector(`{selector}`).focus()"));
    // The chart: one step to the right.
    focus(".choose input");
    let reading = || {
        browser.script("return [document.querySelector('output').textContent, document.querySelector('input').ariaValueText ?? document.querySelector('input').getAttribute('aria-valuetext')]")
    };
    assert_eq!(reading(), json!(["c, instruction 1: 532.0 KiB", "c, instruction 1: 532.0 KiB"]));
    browser.press(&[RIGHT]);
    assert_eq!(reading(), json!(["n, instruction 2: 532.0 KiB", "n, instruction 2: 532.0 KiB"]));
    let chosen = browser.script("return [...document.querySelectorAll('td.chosen')].map((cell) => cell.textContent)");
    assert_eq!(chosen, json!(["500.0 KiB", "16.0 KiB", "16.0 KiB"]));
    // A picture: Enter opens it, Escape closes it, and the focus returns.
    focus("#tensors ~ .wide .open");
    let state = || {
        browser.script(
            "const open = document.querySelector('dialog:popover-open');
             return [open && open.querySelector('h2').textContent, document.activeElement.textContent];",
        )
    };
    let shape = "f32[1000,3]{1,0:T(8,128)}";
    assert_eq!(state(), json!([null, shape]));
    browser.press(&[ENTER]);
    assert_eq!(state(), json!([shape, "Close"]));
    // The fill of the tile, 3 of 128 lanes, and the offsets.
    let drawn = browser.script(
        "const [tile, offsets] = document.querySelectorAll('dialog:popover-open svg');
         const [padding, data] = ['.padding', '.data'].map((part) => tile.querySelector(part).getBoundingClientRect().width);
         return [data / padding, offsets.getBoundingClientRect().width > 600, tile.getAttribute('aria-label')];",
    );
    assert!((drawn[0].as_f64().unwrap() - 3.0 / 128.0).abs() < 0.001, "{drawn}");
    assert_eq!(drawn[1], json!(true));
    assert_eq!(drawn[2], json!("The last tile: 8 of 8 rows and 3 of 128 lanes are data"));
    browser.press(&[ESCAPE]);
    assert_eq!(state(), json!([null, shape]));
    // A click opens it, too.
    browser.script("document.querySelector('#tensors ~ .wide .open').click()");
    assert_eq!(state()[0], json!(shape));
    browser.press(&[ENTER]);
    assert_eq!(state()[0], json!(null));
    // The table by padding, then by data.
    let sorted = || {
        browser.script(
            "return [document.querySelector('[aria-sort]').textContent,
                     [...document.querySelectorAll('.sortable tbody th code')].map((name) => name.textContent).filter((name) => name.length == 1)]",
        )
    };
    assert_eq!(sorted(), json!(["Takes", ["x", "c", "y"]]));
    focus("thead button");
    browser.press(&[TAB, TAB, ENTER]);
    assert_eq!(sorted(), json!(["Padding", ["x", "c", "y"]]));
    assert_eq!(browser.script(CONTROLS_WITHOUT_FOCUS), json!(0));
}

/// The number of controls that do not show the focus when they have it.
const CONTROLS_WITHOUT_FOCUS: &str = "
    return [...document.querySelectorAll('a, main button, input, [tabindex=\"0\"]')].filter((part) => !part.closest('dialog'))
        .filter((part) => { part.focus({focusVisible: true}); return getComputedStyle(part).outlineStyle != 'solid'; }).length";

#[test]
fn a_screen_reader_finds_its_way() {
    crate::long_test!();
    let Some(browser) = Browser::start() else { return };
    let many = [("table", 6), ("image", 2), ("button", 8), ("slider", 1), ("link", 6), ("region", 6)];
    let few = [("table", 6), ("image", 1), ("button", 6), ("slider", 1), ("link", 6), ("region", 6)];
    for (name, text, least) in [("narrow", NARROW.to_string(), many), ("mlp", known("mlp_train_step.opt.hlo"), few)] {
        browser.open(&page(&format!("reader-{name}.html"), &text, &["--plan"]));
        check_tree(&browser, &least);
    }
}

/// Checks the accessibility tree of the page, with the least number of nodes of each role.
fn check_tree(browser: &Browser, least: &[(&str, usize)]) {
    let tree = browser.devtools("Accessibility.getFullAXTree", json!({}));
    let text = |node: &Value, what: &str| node[what]["value"].as_str().unwrap_or("").to_string();
    let nodes = tree["nodes"].as_array().unwrap();
    let all: Vec<&Value> = nodes.iter().filter(|node| node["ignored"] == json!(false)).collect();
    let of = |role: &str| -> Vec<String> {
        all.iter().filter(|node| text(node, "role") == role).map(|node| text(node, "name")).collect()
    };
    // One of each of these, and each picture, table or control has a name.
    assert_eq!((of("main").len(), of("navigation"), of("banner").len()), (1, vec!["Sections".to_string()], 1));
    for (role, least) in least {
        let names = of(role);
        assert!(names.len() >= *least, "{role}: {names:?}");
        assert!(names.iter().all(|name| !name.trim().is_empty()), "{role}: {names:?}");
    }
    let level = |node: &&&Value| {
        let properties = node["properties"].as_array().unwrap();
        let level = properties.iter().find(|property| property["name"] == json!("level"));
        level.unwrap()["value"]["value"].as_i64().unwrap()
    };
    let levels: Vec<i64> = all.iter().filter(|node| text(node, "role") == "heading").map(|node| level(&node)).collect();
    assert_eq!((levels[0], levels.iter().filter(|level| **level == 1).count()), (1, 1));
    assert!(levels.windows(2).all(|pair| pair[1] <= pair[0] + 1), "{levels:?}");
    // Each cell of a table has a column header, in a row with a header.
    let bare = browser.script(
        "return [...document.querySelectorAll('table')].filter((table) => !table.caption || !table.tHead
             || [...table.tBodies[0].rows].some((row) => !row.querySelector('th[scope=row], td[colspan]'))).length",
    );
    assert_eq!(bare, json!(0));
    let doubled = browser.script(
        "const ids = [...document.querySelectorAll('[id]')].map((part) => part.id); return ids.length - new Set(ids).size",
    );
    assert_eq!(doubled, json!(0));
}

/// The contrast of texts with their background must be 4.5 : 1, of parts of drawings 3 : 1 (WCAG 2, AA).
const CONTRASTS: &str = "
    const parts = (colour) => colour.match(/[\\d.]+/g).map(Number);
    const light = (colour) => {
      const [r, g, b] = parts(colour).map((c) => c / 255).map((c) => c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
      return 0.2126 * r + 0.7152 * g + 0.0722 * b;
    };
    const contrast = (a, b) => (Math.max(light(a), light(b)) + 0.05) / (Math.min(light(a), light(b)) + 0.05);
    const behind = (part) => {
      for (; part; part = part.parentElement) {
        const colour = getComputedStyle(part).backgroundColor;
        if (parts(colour)[3] !== 0) return colour;
      }
      return 'rgb(255, 255, 255)';
    };
    const low = [];
    let checked = 0;
    const check = (part, front, back, least) => {
      checked++;
      if (contrast(front, back) < least) low.push([part.outerHTML.slice(0, 80), front, back]);
    };
    for (const part of document.querySelectorAll('body *')) {
      const style = getComputedStyle(part);
      const own = [...part.childNodes].some((node) => node.nodeType == 3 && node.data.trim());
      if (part.closest('dialog svg, script')) continue;
      if (part.matches('.graph text')) check(part, style.fill, getComputedStyle(part.parentElement.querySelector('rect')).fill, 4.5);
      else if (part.matches('.graph rect')) check(part, style.stroke, behind(part), 3);
      else if (part.matches('.bar .padding')) check(part, style.stroke, behind(part), 3);
      else if (part.matches('.layer, .bar .data')) check(part, style.fill, behind(part), 3);
      else if (part.matches('.swatch.padding')) check(part, style.borderColor, behind(part.parentElement), 3);
      else if (part.matches('.swatch')) check(part, style.backgroundColor, behind(part.parentElement), 3);
      else if (own && part.namespaceURI.endsWith('xhtml')) check(part, style.color, behind(part), 4.5);
    }
    return [low, checked > 100];";

#[test]
fn colours_have_contrast() {
    let Some(browser) = Browser::start() else { return };
    browser.open(&page("contrast.html", NARROW, &["--plan"]));
    for (medium, scheme) in [("screen", "light"), ("screen", "dark"), ("print", "light")] {
        browser.media(medium, scheme);
        assert_eq!(browser.script(CONTRASTS), json!([[], true]), "{medium} {scheme}");
    }
}

/// Without the script all numbers are there, and its controls are not.
#[test]
fn without_the_script() {
    crate::long_test!();
    let Some(browser) = Browser::start() else { return };
    let page = page("plain.html", NARROW, &["--plan"]);
    let text = std::fs::read_to_string(&page).unwrap();
    // A script with another hash, which the policy blocks.
    let other = here("plain-refused.html");
    std::fs::write(&other, text.replace("\"use strict\";", "\"use strict\"; ")).unwrap();
    let state = "return [document.querySelector('.choose').hidden, document.querySelectorAll('thead button').length,
                         [...document.querySelectorAll('.chart tbody tr')].map((row) => row.innerText.trim())]";
    browser.open(&other);
    let layers = ["500.0 KiB\targuments", "16.0 KiB\toutputs", "16.0 KiB\tf.py:7"];
    assert_eq!(browser.script(state), json!([true, 0, layers]));
    browser.script("document.querySelector('.open').click()");
    assert_eq!(browser.script("return document.querySelectorAll('dialog:popover-open').length"), json!(1));
    browser.open(&page);
    assert_eq!(browser.script(state)[0], json!(false));
    assert_eq!(browser.script(state)[1], json!(3));
}

/// On paper and on a telephone, no content is cut off at the right.
#[test]
fn on_paper_and_on_a_small_screen() {
    crate::long_test!();
    let Some(browser) = Browser::start() else { return };
    // Names without a place to break, and layouts of full length.
    let folder = "folder/".repeat(20);
    let wide = NARROW.replace("f.py", &format!("{folder}f.py")).replace("jit(f)", &folder.replace('/', "_"));
    let wide = wide.replace("T(4,128)", "T(4,128)(2,1)").replace("T(8,128)", "T(8,128)(4,1)(2,1)");
    for (name, text) in [("wide", wide), ("mlp", known("mlp_train_step.opt.hlo"))] {
        browser.open(&page(&format!("paper-{name}.html"), &text, &["--plan"]));
        let printed = browser.devtools("Page.printToPDF", json!({"printBackground": true}));
        assert!(printed["data"].as_str().unwrap().starts_with("JVBERi0"), "%PDF- in base 64");
        // A4 with margins of 1 cm is 718 pixels wide.
        for (medium, width, colour, nav) in
            [("print", 718, "rgb(255, 255, 255)", "none"), ("screen", 360, "rgb(20, 23, 27)", "block")]
        {
            browser.media(medium, "dark");
            let size = json!({"width": width, "height": 1000, "deviceScaleFactor": 1, "mobile": false});
            browser.devtools("Emulation.setDeviceMetricsOverride", size);
            let state = browser.script(
                "return [document.documentElement.scrollWidth, getComputedStyle(document.body).backgroundColor,
                         getComputedStyle(document.querySelector('nav')).display]",
            );
            assert_eq!(state, json!([width, colour, nav]), "{name} {medium}");
        }
    }
}

/// The text of the slider over the buffers of the first chart.
fn named(browser: &Browser) -> String {
    let text = browser.script("return document.querySelectorAll('.choose output')[1].textContent");
    text.as_str().unwrap().split(' ').next().unwrap().to_string()
}

#[test]
fn the_chart_names_buffers() {
    let Some(browser) = Browser::start() else { return };
    browser.open(&page("buffers.html", NARROW, &[]));
    let titles = browser.script("return [...document.querySelectorAll('.buffer title')].map((own) => own.textContent)");
    assert!(titles[0].as_str().unwrap().ends_with(" KiB, argument, for the whole run"), "{titles}");
    assert!(titles[2].as_str().unwrap().contains(" KiB, instructions 1 to "), "{titles}");
    // With the keyboard: those that are live at the step, the largest first.
    browser.script("document.querySelectorAll('.choose input')[1].focus()");
    assert_eq!(named(&browser), "x");
    browser.press(&[RIGHT]);
    assert_eq!(named(&browser), "y");
    browser.press(&[RIGHT, RIGHT]);
    assert_eq!(named(&browser), "c");
    // With the pointer, on a buffer and on a layer of the same colour.
    for (target, name) in [
        (".buffer:nth-of-type(2)", "y"),
        (".buffer:nth-of-type(1)", "x"),
        (".layer:nth-of-type(3)", "c"),
        (".layer:nth-of-type(1)", "x"),
    ] {
        browser.point(target);
        assert_eq!(named(&browser), name, "{target}");
    }
    assert_eq!(browser.script("return document.querySelectorAll('.buffer.picked').length"), json!(1));
}

#[test]
fn a_search_finds_tensors() {
    let Some(browser) = Browser::start() else { return };
    browser.open(&page("search.html", NARROW, &["--top", "1"]));
    let found = |words: &str, kind: &str| {
        browser.script(&format!(
            "const [search, kind] = document.querySelectorAll('.filter input, .filter select');
             [search.value, kind.value] = [`{words}`, `{kind}`];
             search.dispatchEvent(new Event('input', {{bubbles: true}}));
             const rows = [...document.querySelectorAll('.sortable tbody tr')].filter((row) => row.checkVisibility());
             return [rows.map((row) => row.querySelector('code').textContent).join(), document.querySelector('.filter output').textContent,
                     document.querySelector('.sortable tfoot').checkVisibility()];"
        ))
    };
    assert_eq!(found("", ""), json!(["x", "", true]));
    assert_eq!(found("F.PY", ""), json!(["c,y", "2 of 3 tensors", false]));
    assert_eq!(found("t(4,128) 1000,3", ""), json!(["c", "1 of 3 tensors", false]));
    assert_eq!(found("", "output"), json!(["y", "1 of 3 tensors", false]));
    assert_eq!(found("f.py:7", "output"), json!(["", "0 of 3 tensors", false]));
    assert_eq!(found(" ", ""), json!(["x", "", true]));
}

/// A program that needs two times 24 GiB.
fn too_large() -> String {
    NARROW.replace("1000", "50331648")
}

#[test]
fn the_verdict_is_first() {
    let verdict = |text: &str| {
        let text = printed(&["-", "--html", "-"], text).replace("<wbr>", "");
        let section = text.split("<h2 id=\"verdict\">").nth(1).unwrap().split("</section>").next().unwrap();
        assert!(text.find("<h2").unwrap() < text.find(section).unwrap(), "no other heading is before it");
        section.to_string()
    };
    let fits = verdict(NARROW);
    for part in ["It fits:", ">532.0 KiB</data> of", ">15.8 GiB</data>", "x f32[1000,3]{1,0:T(8,128)}", "94.0 %"] {
        assert!(fits.contains(part), "{part}: {fits}");
    }
    assert!(fits.contains("</code>, an argument of <data"), "{fits}");
    assert!(fits.contains("lay out the argument <code>x</code> as") && fits.matches("<li>").count() == 2, "{fits}");
    let over = verdict(&too_large());
    assert!(over.contains("It does not fit:") && over.contains(" too much."), "{over}");
    assert!(verdict(&NARROW.replace(", is_scheduled=true", "")).contains("not scheduled"));
    let untiled = verdict(&NARROW.replace(":T(8,128)", "").replace(":T(4,128)", ""));
    assert!(untiled.contains("The peak of the main memory is <data"), "{untiled}");
}

/// Each name that has a colour has the same everywhere.
#[test]
fn one_source_has_one_colour() {
    let Some(browser) = Browser::start() else { return };
    browser.open(&page("colours.html", &known("mlp_train_step.opt.hlo"), &[]));
    let names = browser.script(
        "const found = [...document.querySelectorAll('.layer')].map((part) => [part.textContent, part.style.fill]);
         for (const part of document.querySelectorAll('section:not([aria-labelledby=origins]) th .swatch')) {
             const row = part.closest('tr');
             const kind = [...row.cells].map((cell) => cell.textContent).find((text) => ['argument', 'output', 'constant'].includes(text));
             const source = row.cells[row.cells.length - 1].textContent;
             found.push([kind ? kind + 's' : source.trim().split(' ')[0], part.style.background]);
         }
         return found;",
    );
    let mut colours = std::collections::BTreeMap::new();
    for pair in names.as_array().unwrap() {
        let [name, colour] = [0, 1].map(|k| pair[k].as_str().unwrap());
        assert_eq!(*colours.entry(name).or_insert(colour), colour, "{name}: {names}");
    }
    assert!(colours.len() > 3, "{colours:?}");
}

/// A line of the program has the colours of its buffers, and its outputs that of outputs.
#[test]
fn a_line_has_the_colours_of_its_buffers() {
    let Some(browser) = Browser::start() else { return };
    let program = known("mlp_train_step.opt.hlo");
    browser.open(&page("lines.html", &program, &["--top", "1000"]));
    let found = browser.script(
        "const sorted = (lines) => Object.entries(lines).map(([name, own]) => [name, [...own].sort()]).sort();
         const add = (lines, name, row) => {
             const own = lines[name] ??= new Set();
             row.querySelectorAll('.swatch').forEach((part) => own.add(part.style.background));
         };
         const [buffers, lines] = [{}, {}];
         for (const row of document.querySelectorAll('[aria-label=\"Table of what is live at the peak of hbm\"] tbody tr')) {
             const [kind, source] = [row.cells[3].textContent, row.cells[7].textContent.trim().split(' ')[0]];
             add(buffers, kind === 'argument' ? 'arguments' : source || 'unknown', row);
         }
         for (const row of document.querySelectorAll('[aria-label=\"Table by source line\"] tbody tr'))
             add(lines, row.cells[3].textContent, row);
         return [sorted(buffers), sorted(lines)];",
    );
    assert_eq!(found[0], found[1]);
    let colours = |line: &Value| line[1].as_array().unwrap().len();
    let lines = found[1].as_array().unwrap();
    assert!(lines.len() > 2 && lines.iter().any(|line| colours(line) > 1), "{lines:?}");
}

/// On paper no word is broken that has at most 12 letters, and on a telephone the columns of bytes are seen first.
#[test]
fn words_are_whole_and_bytes_first() {
    crate::long_test!();
    let Some(browser) = Browser::start() else { return };
    browser.open(&page("words.html", &known("mlp_train_step.opt.hlo"), &["--plan"]));
    for (medium, width) in [("print", 718), ("screen", 360)] {
        browser.media(medium, "light");
        let size = json!({"width": width, "height": 1000, "deviceScaleFactor": 1, "mobile": false});
        browser.devtools("Emulation.setDeviceMetricsOverride", size);
        let broken = browser.script(
            "const broken = [];
             let checked = 0;
             const texts = document.createTreeWalker(document.querySelector('main'), NodeFilter.SHOW_TEXT);
             for (let text; (text = texts.nextNode());) {
                 if (text.parentElement.closest('svg, script, option') || !text.parentElement.checkVisibility()) continue;
                 for (const word of text.data.matchAll(/[A-Za-z]{2,12}(?![A-Za-z])/g)) {
                     if (/[A-Za-z]/.test(text.data[word.index - 1] ?? '')) continue;
                     const range = document.createRange();
                     range.setStart(text, word.index);
                     range.setEnd(text, word.index + word[0].length);
                     checked++;
                     const tops = new Set([...range.getClientRects()].map((box) => Math.round(box.top)));
                     if (tops.size > 1) broken.push(word[0]);
                 }
             }
             return [broken, checked > 500];",
        );
        assert_eq!(broken, json!([[], true]), "{medium}");
        let hidden = browser.script(
            "return [...document.querySelectorAll('tbody tr:not([hidden]) td.number:first-child')]
                 .filter((cell) => cell.checkVisibility() && cell.getBoundingClientRect().right > innerWidth).length",
        );
        assert_eq!(hidden, json!(0), "{medium}");
    }
}

/// The rules of axe-core, from npm: <https://github.com/dequelabs/axe-core>.
fn axe() -> Option<String> {
    const VERSION: &str = "axe-core@4.14.1";
    let folder = here("axe");
    let file = folder.join("node_modules/axe-core/axe.min.js");
    if !file.exists() {
        std::fs::create_dir_all(&folder).unwrap();
        let options = ["install", "--no-save", "--ignore-scripts", "--fetch-retries=0", "--silent", VERSION];
        let _ = std::process::Command::new("npm").args(options).arg("--prefix").arg(&folder).output();
    }
    let rules = std::fs::read_to_string(file).ok();
    if rules.is_none() {
        use std::io::Write;
        let _ = writeln!(std::io::stderr(), "WARNING: npm does not get {VERSION}: its rules are not tested");
    }
    rules
}

#[test]
fn the_rules_of_axe_hold() {
    crate::long_test!();
    let (Some(browser), Some(axe)) = (Browser::start(), axe()) else { return };
    for (name, text) in [("narrow", NARROW.to_string()), ("large", too_large())] {
        browser.open(&page(&format!("axe-{name}.html"), &text, &["--plan"]));
        for scheme in ["light", "dark"] {
            browser.media("screen", scheme);
            let found = browser.script(&format!(
                "{axe}
                 return axe.run(document).then((found) => [found.passes.length > 20,
                     found.violations.map((rule) => [rule.id, rule.nodes.map((node) => node.html)])])"
            ));
            assert_eq!(found, json!([true, []]), "{name} {scheme}");
        }
    }
}

/// The events of a trace: the instructions are one after the other, no two buffers of a track are live at once, and
/// those of a memory add up to its live bytes.
#[test]
fn a_trace_adds_up() {
    for (name, text) in [("narrow", NARROW.to_string()), ("lstm", known("lstm_scan.opt.hlo"))] {
        let trace: Value = serde_json::from_str(&printed(&["-", "--trace", "-"], &text)).unwrap();
        let timeline: Value = serde_json::from_str(&printed(&["-", "--timeline", "--json"], &text)).unwrap();
        let events = trace["traceEvents"].as_array().unwrap();
        let number = |event: &Value, what: &str| event[what].as_u64().unwrap() as usize;
        let slices = |pid: usize| events.iter().filter(move |own| own["ph"] == "X" && own["pid"] == json!(pid));
        let timeline = timeline["timeline"].as_array().unwrap();
        assert!(slices(0).enumerate().all(|(k, own)| own["name"] == timeline[k]["name"] && own["ts"] == json!(k)));
        assert_eq!(slices(0).count(), timeline.len(), "{name}");
        let mut counted = json!(null);
        for (k, step) in timeline.iter().enumerate() {
            let now = |own: &&Value| (number(own, "ts")..number(own, "ts") + number(own, "dur")).contains(&k);
            let live: Vec<&Value> = slices(1).filter(now).collect();
            assert_eq!(live.iter().map(|own| own["args"]["bytes"].as_i64().unwrap()).sum::<i64>(), step["bytes"]);
            let tracks: std::collections::BTreeSet<usize> = live.iter().map(|own| number(own, "tid")).collect();
            assert_eq!(tracks.len(), live.len(), "{name} {k}");
            let counter = events.iter().find(|own| own["ph"] == "C" && own["pid"] == 1 && own["ts"] == json!(k));
            counted = counter.map_or(counted, |own| own["args"]["bytes"].clone());
            assert_eq!(counted, step["bytes"], "{name} {k}");
        }
    }
}

/// A picture of RGB bytes.
struct Image {
    width: usize,
    rows: Vec<Vec<[u8; 3]>>,
}

impl Image {
    fn read(bytes: &[u8]) -> Image {
        let mut reader = png::Decoder::new(std::io::Cursor::new(bytes)).read_info().unwrap();
        let mut all = vec![0; reader.output_buffer_size().unwrap()];
        let frame = reader.next_frame(&mut all).unwrap();
        let samples = frame.color_type.samples();
        let row = |row: &[u8]| row.chunks(samples).map(|pixel| [pixel[0], pixel[1], pixel[2]]).collect();
        Image {
            width: frame.width as usize,
            rows: all[..frame.buffer_size()].chunks(frame.line_size).map(row).collect(),
        }
    }

    /// The mean of each square of `by` pixels: the edges of letters, which differ between versions of a browser, do not
    /// count then.
    fn reduced(&self, by: usize) -> Image {
        let square = |at: usize, rows: &[Vec<[u8; 3]>]| {
            let pixels = || rows.iter().flat_map(|row| &row[at..at + by]);
            [0, 1, 2].map(|c| (pixels().map(|pixel| usize::from(pixel[c])).sum::<usize>() / (by * by)) as u8)
        };
        let row = |rows: &[Vec<[u8; 3]>]| (0..self.width / by).map(|k| square(k * by, rows)).collect();
        Image { width: self.width / by, rows: self.rows.chunks_exact(by).map(row).collect() }
    }

    fn png(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        let mut encoder = png::Encoder::new(&mut bytes, self.width as u32, self.rows.len() as u32);
        encoder.set_color(png::ColorType::Rgb);
        encoder.set_compression(png::Compression::High);
        encoder.write_header().unwrap().write_image_data(&self.rows.concat().concat()).unwrap();
        bytes
    }

    /// The percentage of pixels with a colour that differs by more than 32 of 255.
    fn differing(&self, other: &Image) -> f64 {
        let pairs = self.rows.iter().flatten().zip(other.rows.iter().flatten());
        let differs = |(a, b): &(&[u8; 3], &[u8; 3])| a.iter().zip(*b).any(|(a, b)| a.abs_diff(*b) > 32);
        pairs.filter(differs).count() as f64 * 100.0 / (self.width * self.rows.len()) as f64
    }
}

#[test]
fn the_page_looks_as_it_did() {
    crate::long_test!();
    let Some(browser) = Browser::start() else { return };
    browser.open(&page("looks.html", NARROW, &["--plan"]));
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/page");
    for (name, medium, scheme, prepare) in [
        ("light", "screen", "light", ""),
        ("dark", "screen", "dark", ""),
        ("print", "print", "light", ""),
        ("picture", "screen", "light", "document.querySelector('.open').click()"),
    ] {
        browser.media(medium, scheme);
        browser.script(prepare);
        let height = if name == "picture" { 800 } else { 4000 };
        let found = Image::read(&browser.screenshot(height)).reduced(8);
        let path = folder.join(format!("{name}.png"));
        if std::env::var_os("BLESS").is_some_and(|value| value == "1") {
            std::fs::write(&path, found.png()).unwrap();
            continue;
        }
        let known = Image::read(&std::fs::read(&path).unwrap());
        let seen = here(&format!("{name}.png"));
        std::fs::write(&seen, found.png()).unwrap();
        let (size, rows) = ((found.width, found.rows.len()), known.rows.len());
        assert!(size.0 == known.width && size.1.abs_diff(rows) <= 2, "{seen:?} is {size:?}, {path:?} has {rows} rows");
        let differing = found.differing(&known);
        assert!(differing <= 1.0, "{differing:.2} % of {seen:?} differ from {path:?}; BLESS=1 replaces it");
    }
}
