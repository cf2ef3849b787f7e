//! Lines of code per crate, and files and functions that exceed their limits.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use proc_macro2::{Span, TokenStream, TokenTree};
use syn::spanned::Spanned;
use syn::visit::{self, Visit};

/// Maximum lines of a file, and of a function, including comments and blank lines.
const FILE_LINES: usize = 400;
const FUNCTION_LINES: usize = 60;

/// Prints the lines of code of each crate, without tests, comments and blank lines, and then all
/// files and functions above their limits. (`tokei` counts the tests in a file of code as code, and
/// does not measure functions.)
#[expect(clippy::print_stdout, clippy::print_stderr, reason = "the task reports to the terminal")]
pub fn count() -> ExitCode {
    let sources = match sources(Path::new("crates")) {
        Ok(sources) => sources,
        Err(why) => {
            eprintln!("{why}");
            return ExitCode::FAILURE;
        }
    };
    let mut crates: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    for source in &sources {
        let (files, code) = crates.entry(&source.package).or_default();
        *files += 1;
        *code += source.code;
    }
    println!("{:<16} {:>5} {:>8}", "crate", "files", "lines");
    for (name, (files, code)) in &crates {
        println!("{name:<16} {files:>5} {code:>8}");
    }
    println!("{:<16} {:>5} {:>8}", "all", sources.len(), sources.iter().map(|source| source.code).sum::<usize>());
    println!("\nFiles of more than {FILE_LINES} lines");
    for source in sources.iter().filter(|source| source.lines > FILE_LINES) {
        println!("{:>5} {}", source.lines, source.path.display());
    }
    println!("\nFunctions of more than {FUNCTION_LINES} lines");
    for source in &sources {
        for (name, lines) in &source.long_functions {
            println!("{:>5} {}:{} {name}", lines.end() - lines.start() + 1, source.path.display(), lines.start());
        }
    }
    ExitCode::SUCCESS
}

/// A file of a crate, without its tests.
struct SourceFile {
    package: String,
    path: PathBuf,
    /// All lines.
    lines: usize,
    /// Lines with code outside tests.
    code: usize,
    /// Functions of more than [`FUNCTION_LINES`] lines.
    long_functions: Vec<(String, RangeInclusive<usize>)>,
}

/// The files of all crates in a directory, without test modules.
fn sources(folder: &Path) -> Result<Vec<SourceFile>, String> {
    let mut sources = Vec::new();
    for package in entries(folder)? {
        let mut files = Vec::new();
        let src = package.join("src");
        if src.is_dir() {
            collect(&src, &mut files)?;
        }
        let name = package.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let mut found = Vec::new();
        let mut tests = BTreeSet::new();
        for path in files {
            let text = fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
            let tree = syn::parse_file(&text).map_err(|error| format!("{}: {error}", path.display()))?;
            let outline = Outline::of(&tree);
            tests.extend(outline.test_modules.iter().map(|module| module_folder(&path).join(module)));
            let code = outline.code_lines(&text, &tree);
            found.push(SourceFile {
                package: name.clone(),
                lines: text.lines().count(),
                code,
                long_functions: outline.long_functions,
                path,
            });
        }
        let is_test = |path: &Path| path.with_extension("").ancestors().any(|ancestor| tests.contains(ancestor));
        sources.extend(found.into_iter().filter(|source| !is_test(&source.path)));
    }
    Ok(sources)
}

/// Contents of a directory, by name.
fn entries(folder: &Path) -> Result<Vec<PathBuf>, String> {
    let read = || fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect::<std::io::Result<Vec<_>>>();
    let mut paths = read().map_err(|error| format!("{}: {error}", folder.display()))?;
    paths.sort();
    Ok(paths)
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) -> Result<(), String> {
    for path in entries(folder)? {
        if path.is_dir() {
            collect(&path, files)?;
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
    Ok(())
}

/// Directory of the modules that a file declares.
fn module_folder(file: &Path) -> PathBuf {
    let is_root = file.file_stem().is_some_and(|stem| ["lib", "main", "mod"].iter().any(|root| stem == *root));
    if is_root { file.parent().map(Path::to_path_buf).unwrap_or_default() } else { file.with_extension("") }
}

/// Positions of the tests and of the long functions of a file.
#[derive(Default)]
struct Outline {
    tests: Vec<RangeInclusive<usize>>,
    /// Test modules in separate files.
    test_modules: Vec<String>,
    long_functions: Vec<(String, RangeInclusive<usize>)>,
}

impl Outline {
    fn of(tree: &syn::File) -> Outline {
        let mut outline = Outline::default();
        outline.visit_file(tree);
        outline
    }

    /// Number of lines with a token outside tests and comments.
    fn code_lines(&self, text: &str, tree: &syn::File) -> usize {
        let mut lines = BTreeSet::new();
        add_lines(quote::ToTokens::to_token_stream(tree), &mut lines);
        let is_comment: Vec<bool> = text.lines().map(|line| line.trim_start().starts_with("//")).collect();
        let is_code = |line: &&usize| !is_comment[**line - 1] && !self.tests.iter().any(|test| test.contains(*line));
        lines.iter().filter(is_code).count()
    }

    fn note_function(&mut self, name: &syn::Ident, signature: Span, body: Span) {
        let lines = signature.start().line..=body.end().line;
        if lines.clone().count() > FUNCTION_LINES {
            self.long_functions.push((name.to_string(), lines));
        }
    }
}

impl<'tree> Visit<'tree> for Outline {
    fn visit_item(&mut self, item: &'tree syn::Item) {
        if let syn::Item::Mod(module) = item
            && is_test(&module.attrs)
        {
            self.tests.push(lines_of(module.span()));
            if module.content.is_none() {
                self.test_modules.push(module.ident.to_string());
            }
            return;
        }
        if let syn::Item::Fn(syn::ItemFn { attrs, .. })
        | syn::Item::Impl(syn::ItemImpl { attrs, .. })
        | syn::Item::Use(syn::ItemUse { attrs, .. }) = item
            && is_test(attrs)
        {
            self.tests.push(lines_of(item.span()));
            return;
        }
        visit::visit_item(self, item);
    }

    fn visit_item_fn(&mut self, function: &'tree syn::ItemFn) {
        self.note_function(&function.sig.ident, function.sig.span(), function.block.span());
        visit::visit_item_fn(self, function);
    }

    fn visit_impl_item_fn(&mut self, function: &'tree syn::ImplItemFn) {
        if is_test(&function.attrs) {
            self.tests.push(lines_of(function.span()));
            return;
        }
        self.note_function(&function.sig.ident, function.sig.span(), function.block.span());
        visit::visit_impl_item_fn(self, function);
    }
}

/// Whether an item is compiled only for tests.
fn is_test(attributes: &[syn::Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        attribute.path().is_ident("cfg")
            && attribute.parse_args::<syn::Ident>().is_ok_and(|argument| argument == "test")
    })
}

fn lines_of(span: Span) -> RangeInclusive<usize> {
    span.start().line..=span.end().line
}

/// Adds the lines of all tokens, including those of multi-line strings.
fn add_lines(tokens: TokenStream, lines: &mut BTreeSet<usize>) {
    for token in tokens {
        match token {
            TokenTree::Group(group) => {
                lines.extend([group.span_open().start().line, group.span_close().end().line]);
                add_lines(group.stream(), lines);
            }
            TokenTree::Ident(_) | TokenTree::Punct(_) | TokenTree::Literal(_) => lines.extend(lines_of(token.span())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tests_comments_and_blank_lines_are_not_code() {
        let text = "//! Page.\n\n/// Doc.\nfn code() {\n    // Why.\n    let text = \"a\n\n b\"; // Why.\n}\n\n\
            #[cfg(test)]\nmod tests {\n    fn test() {}\n}\n";
        let tree = syn::parse_file(text).unwrap();
        let outline = Outline::of(&tree);
        assert_eq!(outline.code_lines(text, &tree), 5, "fn, three lines of a string, and a brace");
        assert!(outline.test_modules.is_empty() && outline.long_functions.is_empty());
    }

    #[test]
    fn a_function_of_more_than_sixty_lines_is_long() {
        let function = |lines: usize| format!("fn long() {{\n{}}}\n", "    call();\n".repeat(lines - 2));
        let long = |lines| Outline::of(&syn::parse_file(&function(lines)).unwrap()).long_functions;
        assert_eq!(long(60), []);
        assert_eq!(long(61), [("long".to_owned(), 1..=61)]);
    }

    #[test]
    fn modules_of_tests_in_files_of_their_own_are_known() {
        let tree = syn::parse_file("#[cfg(test)]\nmod tests;\nmod code;\n").unwrap();
        assert_eq!(Outline::of(&tree).test_modules, ["tests"]);
        assert_eq!(module_folder(Path::new("src/a.rs")).join("tests"), Path::new("src/a/tests"));
        assert_eq!(module_folder(Path::new("src/mod.rs")).join("tests"), Path::new("src/tests"));
    }
}
