//! `layout-inspect offsets`, through the program itself.

use crate::program::{file, outcome};

fn run(arguments: &[&str]) -> (String, String, Option<i32>) {
    outcome(&[&["offsets"], arguments].concat())
}

const THREE: &str = "id,lower,upper,size\na,0,2,100\nb,1,3,50\nc,2,4,100\n";

#[test]
fn a_table_gets_offsets() {
    let path = file("offsets.csv", THREE);
    let path = &*path;
    let good = |text: &str| (text.to_string(), String::new(), Some(0));
    assert_eq!(run(&[path]), good("buffers 3\narena   150\npeak    150\nbound   150\noptimal yes\n"));
    let table = "id,lower,upper,size,offset\na,0,2,100,0\nb,1,3,50,100\nc,2,4,100,0\n";
    assert_eq!(run(&[path, "--table", "-", "--capacity", "150"]), good(table));
    let json = r#"{"arena":150,"peak":150,"bound":150,"optimal":true,"offsets":{"a":0,"b":100,"c":0}}"#;
    assert_eq!(run(&[path, "--json"]), good(&format!("{json}\n")));
    // The output is an input, columns are in any order, and moments may be below 0.
    let again = file("offsets-again.csv", table);
    assert_eq!(run(&[&again, "--table", "-"]), good(table));
    let other = file("offsets-other.csv", "size,id,upper,lower,alignment\r\n100,a,-8,-10,1\r\n 50 ,b,-7,-9,64\r\n");
    let out = "id,lower,upper,size,alignment,offset\na,-10,-8,100,1,50\nb,-9,-7,50,64,0\n";
    assert_eq!(run(&[&other, "--table", "-"]), good(out));
    let aligned = run(&[path, "--alignment", "64"]);
    assert_eq!(aligned, good("buffers 3\narena   164\npeak    150\nbound   164\noptimal yes\n"));
    let none = file("offsets-none.csv", "id,lower,upper,size\n");
    assert!(run(&[&none]).0.starts_with("buffers 0\narena   0\n"));
}

#[test]
fn errors_say_where() {
    let wrong = |text: &str, options: &[&str], message: &str| {
        let path = file("offsets-wrong.csv", text);
        let (out, error, status) = run(&[&[&*path], options].concat());
        assert_eq!((out.as_str(), status), ("", Some(1)), "{error}");
        assert!(error.contains(&format!("offsets-wrong.csv:{message}")), "{error}");
    };
    let row = |row: &str, message: &str| wrong(&format!("{THREE}{row}\n"), &[], message);
    row("d,0,1,0", "5:7: error: size must be an integer from 1 of 64 bits, found `0`");
    row("d,0,1,-4", "5:7: error: size must be an integer from 1 of 64 bits, found `-4`");
    row("d,0,1,99999999999999999999", "5:7: error: size must be");
    row("d,x,1,1", "5:3: error: lower must be an integer of 64 bits, found `x`");
    row("d,3,3,1", "5:5: error: upper must be above lower, 3, found 3");
    row("d,3,1,1", "5:5: error: upper must be above lower, 3, found 1");
    row("d,3,1", "5:1: error: expected 4 fields, found 3");
    row("b,3,4,1", "5:1: error: each id must be there once, found `b` twice");
    row("d,0,1,9223372036854775807", " error: the bytes of all ranges do not fit in 64 bits");
    wrong("", &[], "1:1: error: expected a line with the columns id,lower,upper,size");
    wrong("id,lower,upper\n", &[], "1:1: error: expected a column `size`");
    wrong(
        "id,lower,uper,size\n",
        &[],
        "1:10: error: a column must be one of id, lower, upper, size, alignment, offset, found `uper`; did you mean `upper`?",
    );
    wrong("id,id,lower,upper,size\n", &[], "1:4: error: each column must be there once, found `id` twice");
    let least = " error: 150 bytes are live at moment 1, and the memory has 149: it must have 150 or more";
    wrong(THREE, &["--capacity", "149"], least);
    wrong(
        THREE,
        &["--capacity", "163", "--alignment", "64"],
        " error: no offsets fit in 163 bytes; the fewest found are 164",
    );
    let path = file("offsets.txt", THREE);
    for (options, message) in [
        (["--alignment", "0"], "error: --alignment must be 1 or more, found 0"),
        (["--capacity=-1", "--json"], "error: expected a number of bytes from 0 to 9223372036854775807, found `-1`"),
        (["--capacity", "16Mi"], "error: unknown unit `Mi`; did you mean `MiB`?"),
    ] {
        let (_, error, status) = run(&[&[&*path][..], &options].concat());
        assert!(error.contains(message) && status == Some(1), "{error}");
    }
}
