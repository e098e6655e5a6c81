//! Tokens of a source file, for the tests of its structure.

use proc_macro2::{Delimiter, TokenStream, TokenTree};

/// The tokens without the items after `#[cfg(test)]`. An item ends with its body or with a semicolon.
pub fn without_tests(tokens: TokenStream) -> Vec<TokenTree> {
    let mut kept = Vec::new();
    let mut tokens = tokens.into_iter();
    while let Some(token) = tokens.next() {
        match &token {
            TokenTree::Group(group) if group.to_string().replace(' ', "") == "[cfg(test)]" => {
                let _ = tokens.by_ref().find(ends_item);
            }
            _ => kept.push(token),
        }
    }
    kept
}

fn ends_item(token: &TokenTree) -> bool {
    match token {
        TokenTree::Group(group) => group.delimiter() == Delimiter::Brace,
        TokenTree::Punct(punct) => punct.as_char() == ';',
        _ => false,
    }
}
