//! The text of MLIR: modules, functions, operations, regions and signatures.
//!
//! Operations of StableHLO print in forms of their own. All of them are operands, words, `name = value` clauses and
//! values in brackets, in some order, up to the `:` of the signature; one loose grammar reads them with the generic
//! form. Only `func.func`, `while` and the reducer of `reduce` bind names in a form of their own.

use super::attributes::MlirAttribute;
use super::strings;
use super::types::{self, Aliases, Type};
use crate::text::{Cursor, Error, excerpt, length};
use std::collections::{BTreeSet, HashMap};

/// The limit on results of an operation.
const MAX_RESULTS: usize = crate::limits::STABLEHLO_ARRAYS;

/// The limit on regions inside each other.
const MAX_REGIONS: usize = crate::limits::STABLEHLO_REGIONS;

/// A value's name, without `%`, the number of the result, and the position.
#[derive(Clone, Copy, PartialEq)]
pub(super) struct Operand<'a> {
    pub name: &'a str,
    pub number: usize,
    pub at: usize,
}

/// A name that an operation or a block binds.
#[derive(Clone)]
pub(super) struct Argument<'a> {
    pub name: &'a str,
    pub kind: Type,
    pub attributes: Vec<MlirAttribute<'a>>,
    pub location: Option<&'a str>,
}

impl Argument<'_> {
    /// One without a name.
    fn of(kind: Type) -> Self {
        Argument { name: "", kind, attributes: Vec::new(), location: None }
    }
}

/// A region of one block.
#[derive(Clone, Default)]
pub(super) struct Region<'a> {
    pub arguments: Vec<Argument<'a>>,
    pub operations: Vec<Operation<'a>>,
}

/// An operation.
#[derive(Clone)]
pub(super) struct Operation<'a> {
    pub name: &'a str,
    pub at: usize,
    /// Whether it is in the generic form: its name is in quotes.
    pub is_generic: bool,
    /// The name of each group of results, and the number of results in it.
    pub groups: Vec<(&'a str, usize)>,
    pub operands: Vec<Operand<'a>>,
    /// The attributes; the name of one without a name, such as the word `LT` or `[0:4]`, is empty.
    pub attributes: Vec<MlirAttribute<'a>>,
    pub regions: Vec<Region<'a>>,
    /// The types of the operands, where the signature has them.
    pub kinds: Option<Vec<Type>>,
    pub results: Vec<Type>,
    pub location: Option<&'a str>,
}

impl<'a> Operation<'a> {
    fn new(name: &'a str, at: usize) -> Operation<'a> {
        Operation {
            name,
            at,
            is_generic: false,
            groups: Vec::new(),
            operands: Vec::new(),
            attributes: Vec::new(),
            regions: Vec::new(),
            kinds: None,
            results: Vec::new(),
            location: None,
        }
    }

    /// The number of results.
    pub fn count(&self) -> usize {
        self.groups.iter().map(|(_, count)| count).sum()
    }

    /// The attribute of one of these names.
    pub fn attribute(&self, names: &[&str]) -> Option<&MlirAttribute<'a>> {
        self.attributes.iter().find(|attribute| names.contains(&attribute.name))
    }

    /// The values without a name.
    pub fn positional(&self) -> impl Iterator<Item = &MlirAttribute<'a>> {
        self.attributes.iter().filter(|attribute| attribute.name.is_empty())
    }

    /// The name of a symbol, without `@`: `sym_name` or `callee` in the generic form.
    pub fn symbol(&self, name: &str) -> Option<(&'a str, usize)> {
        let named = self.attribute(&["@", name])?;
        Some((named.text.trim_start_matches('@').trim_matches('"'), named.at))
    }
}

/// A module: the operations in its body, and the aliases of attributes.
#[derive(Default)]
pub(super) struct MlirModule<'a> {
    pub name: &'a str,
    pub attributes: Vec<MlirAttribute<'a>>,
    pub operations: Vec<Operation<'a>>,
    /// The text of `#name = text`, by the name.
    pub aliases: HashMap<&'a str, &'a str>,
    /// The hexadecimal digits of each resource.
    pub resources: HashMap<&'a str, &'a str>,
}

/// Reads a text.
pub(super) fn module(text: &str) -> Result<MlirModule<'_>, Error> {
    let mut reader = Reader { cursor: Cursor::new(text), depth: 0, aliases: Aliases::default() };
    let mut module = MlirModule::default();
    while reader.cursor.peek().is_some() {
        match reader.cursor.peek() {
            Some(b'#') => {
                let name = reader.sigil('#')?;
                reader.cursor.expect("=", "`=` after the name of an attribute")?;
                let text = reader.value()?.0;
                reader.aliases.attributes.insert(name, text);
                module.aliases.insert(name, text);
            }
            Some(b'!') => {
                let name = reader.sigil('!')?;
                reader.cursor.expect("=", "`=` after the name of a type")?;
                let kind = reader.kind()?;
                reader.aliases.types.insert(name, kind);
            }
            Some(b'{') if reader.cursor.eat("{-#") => reader.resources(&mut module)?,
            _ => {
                let operation = reader.operation()?;
                if matches!(operation.name, "module" | "builtin.module") {
                    if !module.operations.is_empty() {
                        return Err(Error::at(operation.at, "a text must have one module, found a second"));
                    }
                    module.name = operation.symbol("sym_name").map_or("", |(name, _)| name);
                    module.attributes = operation.attributes;
                    module.operations = operation.regions.into_iter().flat_map(|region| region.operations).collect();
                } else {
                    module.operations.push(operation);
                }
            }
        }
    }
    reader.cursor.finish("an operation")?;
    Ok(module)
}

/// Whether an operation is of a dialect that a module of StableHLO has.
fn is_known(name: &str) -> bool {
    let dialects = ["stablehlo", "mhlo", "chlo", "sdy", "func", "builtin", "arith"];
    match name.split_once('.') {
        Some((dialect, _)) => dialects.contains(&dialect),
        None => ["module", "func", "call", "return"].contains(&name),
    }
}

struct Reader<'a> {
    cursor: Cursor<'a>,
    /// The number of open regions.
    depth: usize,
    aliases: Aliases<'a>,
}

impl<'a> Reader<'a> {
    /// Reads a name after `%`, `#`, `@` or `!`; that of a symbol may be in quotes.
    fn sigil(&mut self, sigil: char) -> Result<&'a str, Error> {
        let rest = self.cursor.rest();
        let name = rest.strip_prefix(sigil).ok_or_else(|| self.cursor.expected(&format!("a name with `{sigil}`")))?;
        let end = if name.starts_with('"') {
            self.string_length(name)?
        } else {
            length(name, |b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'.' | b'$' | b'-'))
        };
        if end == 0 {
            return Err(self.cursor.expected(&format!("a name after `{sigil}`")));
        }
        // `-` ends a name before `->`.
        let end = if name[..end].ends_with('-') && name[end..].starts_with('>') { end - 1 } else { end };
        self.cursor.advance(sigil.len_utf8() + end);
        Ok(name[..end].trim_matches('"'))
    }

    /// The length of the string at the start of `text`, with its quotes.
    fn string_length(&self, text: &str) -> Result<usize, Error> {
        let wrong = || Error::at(self.cursor.at(), "expected `\"` to close this string, found none").syntax();
        strings::string_length(text).ok_or_else(wrong)
    }

    /// A word with dots and dashes, such as `func.func`.
    fn word(&mut self) -> Option<&'a str> {
        let rest = self.cursor.rest();
        let end = length(rest, |b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'.' | b'$'));
        let begins = rest.bytes().next().is_some_and(|b| b.is_ascii_alphabetic() || b == b'_');
        begins.then(|| {
            self.cursor.advance(end);
            &rest[..end]
        })
    }

    /// Reads one value: words, numbers, strings and groups in brackets without a gap, with `x` or `->` between groups,
    /// and with ` : type` where `typed`.
    fn balanced(&mut self, typed: bool) -> Result<(&'a str, usize), Error> {
        let (at, rest) = (self.cursor.at(), self.cursor.rest());
        let bytes = rest.as_bytes();
        let mut open: Vec<(u8, usize)> = Vec::new();
        let mut end = 0;
        while let Some(&byte) = bytes.get(end) {
            match byte {
                b'"' => end += self.string_length(&rest[end..])?,
                b'(' | b'[' | b'{' | b'<' => {
                    open.push((byte, end));
                    end += 1;
                }
                b'>' if end > 0 && bytes[end - 1] == b'-' => end += 1,
                b')' | b']' | b'}' | b'>' => {
                    let close = |open| if open == b'(' { b')' } else { open + 2 };
                    match open.pop() {
                        None => break,
                        Some((opened, _)) if close(opened) == byte => end += 1,
                        Some((opened, from)) => {
                            let (opened, close) = (char::from(opened), char::from(close(opened)));
                            let message =
                                format!("expected `{close}` to close this `{opened}`, found `{}`", char::from(byte));
                            return Err(Error::at(at + from, message).syntax());
                        }
                    }
                }
                b',' if open.is_empty() => break,
                b':' if open.is_empty() && !typed => break,
                b'/' if rest[end..].starts_with("//") => {
                    let next = rest[end..].find('\n').map_or(rest.len(), |line| end + line);
                    if open.is_empty() {
                        break;
                    }
                    end = next;
                }
                byte if byte.is_ascii_whitespace() && open.is_empty() => {
                    let next = end + length(&rest[end..], |b| b.is_ascii_whitespace());
                    let after = &rest[next..];
                    let joined = after.strip_prefix("x ").map(str::trim_start).is_some_and(|own| own.starts_with('['));
                    let joins = |text: &str| [":", "->"].iter().any(|sign| text.ends_with(sign));
                    let typed = typed && (after.starts_with(": ") || after.starts_with("->") || joins(&rest[..end]));
                    if !(typed || joined || rest[..end].ends_with(" x")) {
                        break;
                    }
                    end = next;
                }
                _ => end += 1,
            }
        }
        if let Some((opened, from)) = open.pop() {
            let message = format!("expected the end of this `{}`, found the end of the text", char::from(opened));
            return Err(Error::at(at + from, message).syntax());
        }
        if end == 0 {
            return Err(self.cursor.expected("a value"));
        }
        self.cursor.advance(end);
        Ok((rest[..end].trim_end(), at))
    }

    /// Reads the value of an attribute with its type.
    fn value(&mut self) -> Result<(&'a str, usize), Error> {
        self.balanced(true)
    }

    fn kind(&mut self) -> Result<Type, Error> {
        types::read(&mut self.cursor, &self.aliases)
    }

    /// Reads the entries of a dictionary up to `close`.
    fn dictionary(&mut self, close: &str, into: &mut Vec<MlirAttribute<'a>>) -> Result<(), Error> {
        let mut first = true;
        while !self.cursor.eat(close) {
            if !first {
                self.cursor.expect(",", &format!("`,` or `{close}` to close the attributes"))?;
            }
            first = false;
            let name_at = self.cursor.at();
            let name = if self.cursor.peek() == Some(b'"') {
                let rest = self.cursor.rest();
                let end = self.string_length(rest)?;
                self.cursor.advance(end);
                &rest[1..end - 1]
            } else {
                self.word().ok_or_else(|| self.cursor.expected(&format!("the name of an attribute or `{close}`")))?
            };
            let (text, at) = if self.cursor.eat("=") { self.value()? } else { ("unit", name_at) };
            into.push(MlirAttribute { name, text, at });
        }
        Ok(())
    }

    /// Reads `loc(..)`, if it is next.
    fn location(&mut self) -> Result<Option<&'a str>, Error> {
        let rest = self.cursor.rest();
        if !rest.starts_with("loc(") {
            return Ok(None);
        }
        self.cursor.advance("loc".len());
        Ok(Some(self.balanced(false)?.0))
    }

    /// Reads `{-# dialect_resources: {builtin: {name: "0x.."}} #-}` after its opening.
    fn resources(&mut self, module: &mut MlirModule<'a>) -> Result<(), Error> {
        let (start, rest) = (self.cursor.at(), self.cursor.rest());
        let end = rest.find("#-}").ok_or_else(|| Error::at(start, "expected `#-}` to close the resources").syntax())?;
        for part in rest[..end].split_inclusive("\"0x").collect::<Vec<_>>().windows(2) {
            let Some(name) = part[0].trim_end_matches("\"0x").trim_end().strip_suffix(':') else { continue };
            let begin = name.rfind(|c: char| c.is_whitespace() || c == '{' || c == ',').map_or(0, |at| at + 1);
            let digits = length(part[1], |b| b.is_ascii_hexdigit());
            module.resources.insert(&name[begin..], &part[1][..digits]);
        }
        self.cursor.advance(end + "#-}".len());
        Ok(())
    }

    /// Reads `{ ^bb0(%x: type): operations }` after the opening brace.
    fn region(&mut self) -> Result<Region<'a>, Error> {
        self.depth += 1;
        if self.depth > MAX_REGIONS {
            let message = format!("regions must be at most {MAX_REGIONS} inside each other, found more");
            return Err(Error::at(self.cursor.at(), message).too_large());
        }
        let mut region = Region::default();
        if self.cursor.peek() == Some(b'^') {
            self.sigil('^')?;
            if self.cursor.eat("(") {
                region.arguments = self.arguments()?;
            }
            self.cursor.expect(":", "`:` after the head of a block")?;
        }
        while !self.cursor.eat("}") {
            match self.cursor.peek() {
                None => return Err(self.cursor.expected("an operation or `}` to close the region")),
                Some(b'^') => {
                    let message = "a region must have one block, found a second: StableHLO has no branches";
                    return Err(Error::at(self.cursor.at(), message).unsupported());
                }
                _ => region.operations.push(self.operation()?),
            }
        }
        self.depth -= 1;
        Ok(region)
    }

    /// Reads `%x: type {attributes} loc(..), ...)`.
    fn arguments(&mut self) -> Result<Vec<Argument<'a>>, Error> {
        let mut arguments = Vec::new();
        while !self.cursor.eat(")") {
            if !arguments.is_empty() {
                self.cursor.expect(",", "`,` or `)` to close the arguments")?;
            }
            let name = self.sigil('%')?;
            self.cursor.expect(":", "`:` and the type of the argument")?;
            arguments.push(self.typed(name)?);
        }
        Ok(arguments)
    }

    /// Reads `type {attributes} loc(..)`.
    fn typed(&mut self, name: &'a str) -> Result<Argument<'a>, Error> {
        let mut argument = Argument { name, kind: self.kind()?, attributes: Vec::new(), location: None };
        if self.cursor.eat("{") {
            self.dictionary("}", &mut argument.attributes)?;
        }
        argument.location = self.location()?;
        Ok(argument)
    }

    fn operand(&mut self) -> Result<Operand<'a>, Error> {
        let at = self.cursor.at();
        let name = self.sigil('%')?;
        let number = if self.cursor.eat("#") { self.cursor.integer("the number of a result")? } else { 0 };
        Ok(Operand { name, number: usize::try_from(number).unwrap_or(usize::MAX), at })
    }

    fn operation(&mut self) -> Result<Operation<'a>, Error> {
        let mut groups = Vec::new();
        while self.cursor.peek() == Some(b'%') {
            let name = self.sigil('%')?;
            let at = self.cursor.at();
            let count = if self.cursor.eat(":") { self.cursor.integer("the number of results")? } else { 1 };
            let few = usize::try_from(count).ok().filter(|count| (1..=MAX_RESULTS).contains(count));
            let message = || format!("there must be 1 to {MAX_RESULTS} results, found {count}");
            groups.push((name, few.ok_or_else(|| Error::at(at, message()).too_large())?));
            if !self.cursor.eat(",") {
                self.cursor.expect("=", "`=` after the results")?;
                break;
            }
        }
        let at = self.cursor.at();
        let is_generic = self.cursor.peek() == Some(b'"');
        let name = if is_generic {
            let rest = self.cursor.rest();
            let end = self.string_length(rest)?;
            self.cursor.advance(end);
            &rest[1..end - 1]
        } else {
            self.word().ok_or_else(|| self.cursor.expected("an operation"))?
        };
        if !is_generic && !is_known(name) {
            let message = format!(
                "unknown operation `{}`: a module of StableHLO has no operations of this dialect",
                excerpt(name)
            );
            return Err(Error::at(at, message).unknown());
        }
        let mut operation = Operation { groups, is_generic, ..Operation::new(name, at) };
        match name {
            "func.func" | "func" if !is_generic => self.function(&mut operation)?,
            "module" | "builtin.module" if !is_generic => self.module_body(&mut operation)?,
            "stablehlo.while" if !is_generic => self.loop_of(&mut operation)?,
            "func.func" => {
                self.loose(&mut operation)?;
                self.generic_function(&mut operation)?;
            }
            _ => self.loose(&mut operation)?,
        }
        operation.location = operation.location.or(self.location()?);
        let mut seen = BTreeSet::new();
        let names = operation.attributes.iter().filter(|own| !matches!(own.name, "" | "@"));
        if let Some(own) = names.into_iter().find(|own| !seen.insert(own.name)) {
            let message = format!("attribute `{}` must be given once, found a second", excerpt(own.name));
            return Err(Error::at(own.at, message));
        }
        Ok(operation)
    }

    /// Reads `@name attributes {..} {..}`.
    fn module_body(&mut self, operation: &mut Operation<'a>) -> Result<(), Error> {
        if self.cursor.peek() == Some(b'@') {
            let at = self.cursor.at();
            operation.attributes.push(MlirAttribute { name: "sym_name", text: self.sigil('@')?, at });
        }
        if self.eat_word("attributes") {
            self.cursor.expect("{", "`{` and the attributes of the module")?;
            self.dictionary("}", &mut operation.attributes)?;
        }
        self.cursor.expect("{", "`{` to open the module")?;
        operation.regions.push(self.region()?);
        Ok(())
    }

    fn eat_word(&mut self, word: &str) -> bool {
        self.cursor.peek_name() == Some(word) && self.cursor.eat(word)
    }

    /// Reads `public @name(%x: type, ..) -> (type {..}, ..) attributes {..} {..}`. The types of results become the
    /// arguments of a second region.
    fn function(&mut self, operation: &mut Operation<'a>) -> Result<(), Error> {
        for word in ["public", "private", "nested"] {
            self.eat_word(word);
        }
        let at = self.cursor.at();
        operation.attributes.push(MlirAttribute { name: "sym_name", text: self.sigil('@')?, at });
        self.cursor.expect("(", "`(` and the arguments of the function")?;
        let arguments = if self.cursor.peek() == Some(b'%') || self.cursor.peek() == Some(b')') {
            self.arguments()?
        } else {
            self.typed_list()?
        };
        let mut results = Vec::new();
        if self.cursor.eat("->") {
            results = if self.cursor.eat("(") { self.typed_list()? } else { vec![Argument::of(self.kind()?)] };
        }
        if self.eat_word("attributes") {
            self.cursor.expect("{", "`{` and the attributes of the function")?;
            self.dictionary("}", &mut operation.attributes)?;
        }
        let mut body = if self.cursor.eat("{") { self.region()? } else { Region::default() };
        body.arguments = arguments;
        operation.regions = vec![body, Region { arguments: results, operations: Vec::new() }];
        Ok(())
    }

    /// Gives a function in the generic form the regions of the short form.
    fn generic_function(&self, operation: &mut Operation<'a>) -> Result<(), Error> {
        let kind = operation.attribute(&["function_type"]).copied();
        let kind =
            kind.ok_or_else(|| Error::at(operation.at, "`func.func` must have a `function_type`, found none"))?;
        let arrow =
            kind.text.find("->").ok_or_else(|| kind.expected("a type such as `(tensor<f32>) -> tensor<f32>`"))?;
        let mut reader =
            Reader { cursor: Cursor::new(&kind.text[arrow + 2..]), depth: 0, aliases: self.aliases.clone() };
        let list = if reader.cursor.eat("(") { reader.types(")") } else { reader.bare_types() };
        let list = list.map_err(|error| error.shifted(kind.at + arrow + 2))?;
        let mut results: Vec<Argument> = list.into_iter().map(Argument::of).collect();
        let mut body = std::mem::take(&mut operation.regions).into_iter().next().unwrap_or_default();
        for (name, arguments) in [("arg_attrs", &mut body.arguments), ("res_attrs", &mut results)] {
            let lists = operation.attribute(&[name]).map_or(Ok(Vec::new()), |own| own.list())?;
            for (argument, own) in arguments.iter_mut().zip(lists) {
                argument.attributes = own.fields()?;
            }
        }
        operation.regions = vec![body, Region { arguments: results, operations: Vec::new() }];
        Ok(())
    }

    /// Reads `type {..}, type {..})`.
    fn typed_list(&mut self) -> Result<Vec<Argument<'a>>, Error> {
        let mut list = Vec::new();
        while !self.cursor.eat(")") {
            if !list.is_empty() {
                self.cursor.expect(",", "`,` or `)` to close the types")?;
            }
            list.push(self.typed("")?);
        }
        Ok(list)
    }

    /// Reads `(%x = %a, ..) : types attributes {..} cond {..} do {..}`.
    fn loop_of(&mut self, operation: &mut Operation<'a>) -> Result<(), Error> {
        self.cursor.expect("(", "`(` and the values that the loop carries")?;
        let mut names = Vec::new();
        while !self.cursor.eat(")") {
            if !names.is_empty() {
                self.cursor.expect(",", "`,` or `)` to close the carried values")?;
            }
            names.push(self.sigil('%')?);
            self.cursor.expect("=", "`=` and the first value")?;
            operation.operands.push(self.operand()?);
        }
        if self.cursor.eat(":") {
            self.signature(operation)?;
        }
        if self.eat_word("attributes") {
            self.cursor.expect("{", "`{` and the attributes of the loop")?;
            self.dictionary("}", &mut operation.attributes)?;
        }
        let argument = |(name, kind): (&&'a str, &Type)| Argument {
            name,
            kind: kind.clone(),
            attributes: Vec::new(),
            location: None,
        };
        let arguments: Vec<Argument> = names.iter().zip(&operation.results).map(argument).collect();
        for word in ["cond", "do"] {
            if !self.eat_word(word) {
                return Err(self.cursor.expected(&format!("`{word}` and a region of the loop")));
            }
            self.cursor.expect("{", "`{` to open the region")?;
            operation.regions.push(Region { arguments: arguments.clone(), ..self.region()? });
        }
        Ok(())
    }

    /// Reads an operation after its name in the generic form, or in one of the forms of StableHLO.
    fn loose(&mut self, operation: &mut Operation<'a>) -> Result<(), Error> {
        let (mut parentheses, mut arguments, mut after_operand) = (0usize, Vec::new(), false);
        loop {
            let at = self.cursor.at();
            let is_second = std::mem::take(&mut after_operand);
            match self.cursor.peek() {
                Some(b'%') if is_second => return Err(self.cursor.expected("`,` between operands")),
                Some(b'%') => match (self.operand()?, self.cursor.peek()) {
                    (_, Some(b'=')) => return Err(self.cursor.expected(&signature_of(operation))),
                    (argument, Some(b':')) if parentheses > 0 => {
                        self.cursor.advance(1);
                        arguments.push(self.typed(argument.name)?);
                    }
                    (operand, _) => {
                        operation.operands.push(operand);
                        after_operand = true;
                    }
                },
                Some(b':') => return self.ending(operation),
                Some(b'(') => {
                    self.cursor.advance(1);
                    parentheses += 1;
                }
                Some(b')') if parentheses > 0 => {
                    self.cursor.advance(1);
                    parentheses -= 1;
                }
                Some(b',') => self.cursor.advance(1),
                Some(b'{') if parentheses > 0 || !arguments.is_empty() => {
                    self.cursor.advance(1);
                    let mut region = self.region()?;
                    region.arguments.append(&mut arguments);
                    operation.regions.push(region);
                }
                Some(b'{') => {
                    self.cursor.advance(1);
                    self.dictionary("}", &mut operation.attributes)?;
                }
                Some(b'<') if self.cursor.eat("<{") => self.dictionary("}>", &mut operation.attributes)?,
                Some(b'@') => {
                    let text = self.sigil('@')?;
                    operation.attributes.push(MlirAttribute { name: "@", text, at });
                    // `sdy.mesh @mesh = <[..]>`
                    self.cursor.eat("=");
                }
                Some(b'<' | b'[' | b'"') => {
                    let (text, at) = self.balanced(false)?;
                    operation.attributes.push(MlirAttribute { name: "", text, at });
                }
                Some(b) if b.is_ascii_alphabetic() || b == b'_' => {
                    if self.ends_without_signature(operation) {
                        return Ok(());
                    }
                    self.clause(operation)?;
                }
                Some(b'}') if operation.operands.is_empty() && parentheses == 0 => return Ok(()),
                _ => return Err(self.cursor.expected(&signature_of(operation))),
            }
        }
    }

    /// Reads what comes after the operands: the signature, and the reducer of a `reduce`.
    fn ending(&mut self, operation: &mut Operation<'a>) -> Result<(), Error> {
        self.cursor.advance(1);
        self.signature(operation)?;
        if self.eat_word("reducer") {
            let region = self.reducer()?;
            operation.regions.push(region);
        }
        Ok(())
    }

    /// Reads a word: a clause `name = value`, a value such as `dense<..>`, or a word alone.
    fn clause(&mut self, operation: &mut Operation<'a>) -> Result<(), Error> {
        let (at, rest) = (self.cursor.at(), self.cursor.rest());
        let word = self.word().unwrap_or_default();
        let applies = || operation.attributes.last().is_some_and(|own| own.text == "applies");
        if word == "return" || word == "call" || word.contains('.') && !applies() {
            // The next operation begins.
            let message = format!("expected {}, found `{}`", signature_of(operation), excerpt(word));
            return Err(Error::at(at, message).syntax());
        }
        if word == "init" && self.cursor.eat(":") {
            return Ok(());
        }
        let (mut name, mut text, mut place) = ("", word, at);
        if self.cursor.eat("=") {
            (name, (text, place)) = (word, self.balanced(false)?);
        } else if self.cursor.peek() == Some(b'<') {
            let (group, from) = self.balanced(false)?;
            text = &rest[..from - at + group.len()];
        }
        operation.attributes.push(MlirAttribute { name, text, at: place });
        Ok(())
    }

    /// Whether an operation without operands has ended, as `return` and `sdy.mesh` do: a location or the next one
    /// follows.
    fn ends_without_signature(&self, operation: &Operation) -> bool {
        let rest = self.cursor.rest();
        let returns = operation.name.ends_with("return") || operation.name == "sdy.mesh";
        returns && operation.operands.is_empty() || rest.starts_with("loc(")
    }

    /// Reads `(%x: type, %y: type) (..) {..}`; the arguments come in the order of the generic form.
    fn reducer(&mut self) -> Result<Region<'a>, Error> {
        let (mut left, mut right) = (Vec::new(), Vec::new());
        while self.cursor.eat("(") {
            let mut pair = self.arguments()?.into_iter();
            left.extend(pair.next());
            right.extend(pair);
        }
        self.cursor.expect("{", "`{` to open the reducer")?;
        let region = self.region()?;
        left.extend(right);
        Ok(Region { arguments: left, ..region })
    }

    /// Reads `type, type`, `type -> type` or `(types) -> (types)`, after the `:`. Without an arrow the results have
    /// these types, or one result the last one.
    fn signature(&mut self, operation: &mut Operation<'a>) -> Result<(), Error> {
        let mut types = if self.cursor.eat("(") { self.types(")")? } else { self.bare_types()? };
        if self.cursor.eat("->") {
            operation.kinds = Some(types);
            types = if self.cursor.eat("(") { self.types(")")? } else { vec![self.kind()?] };
        } else {
            operation.kinds = operand_types(operation, &types);
            match operation.count() {
                0 => types.clear(),
                1 => drop(types.drain(..types.len().saturating_sub(1))),
                _ => {}
            }
        }
        operation.results = types;
        Ok(())
    }

    fn types(&mut self, close: &str) -> Result<Vec<Type>, Error> {
        let mut types = Vec::new();
        while !self.cursor.eat(close) {
            if !types.is_empty() {
                self.cursor.expect(",", &format!("`,` or `{close}` to close the types"))?;
            }
            types.push(self.kind()?);
        }
        Ok(types)
    }

    fn bare_types(&mut self) -> Result<Vec<Type>, Error> {
        let mut types = vec![self.kind()?];
        while self.cursor.eat(",") {
            types.push(self.kind()?);
        }
        Ok(types)
    }
}

/// The types of the operands that a signature without an arrow says: those of the results, or of a `return`. A
/// `select` has the type of its condition first.
fn operand_types(operation: &Operation, types: &[Type]) -> Option<Vec<Type>> {
    match (operation.name.rsplit('.').next()?, types) {
        ("complex" | "tuple", _) => None,
        ("select", [condition, value]) => Some(vec![condition.clone(), value.clone(), value.clone()]),
        (_, [one]) if operation.count() == 1 => Some(vec![one.clone(); operation.operands.len()]),
        _ => Some(types.to_vec()),
    }
}

/// The signature of an operation, as a message expects it.
fn signature_of(operation: &Operation) -> String {
    format!("`:` and the signature of `{}`", excerpt(operation.name))
}
