//! Modules of a folder import each other in one direction.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use proc_macro2::{TokenStream, TokenTree};
use syn::UseTree;
use syn::visit::{self, Visit};

/// A module within its crate, or a path of Rust: `["address", "raw"]`.
type Names = Vec<String>;

/// Importing module, imported module, and the names that it imports.
type Imports<'a> = BTreeMap<String, BTreeMap<String, BTreeSet<&'a str>>>;

/// The modules of a crate without tests, and the paths that each of them names.
#[derive(Default)]
struct Modules(BTreeMap<Names, BTreeSet<Names>>);

/// Reader of one module.
struct Module<'modules> {
    name: Names,
    /// Directory of the modules that this one declares.
    folder: PathBuf,
    modules: &'modules mut Modules,
}

impl Modules {
    fn of(src: &Path) -> Modules {
        let mut modules = Modules::default();
        modules.read(Names::new(), &src.join("lib.rs"), src);
        modules
    }

    fn read(&mut self, name: Names, file: &Path, folder: &Path) {
        let text = fs::read_to_string(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        let tree = syn::parse_file(&text).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        self.0.insert(name.clone(), BTreeSet::new());
        Module { name, folder: folder.to_owned(), modules: self }.visit_file(&tree);
    }

    /// The module in which a path of `from` ends. A name that a module imports from one that it
    /// declares counts as the latter's. A path into another crate ends in `from`.
    fn target(&self, from: &[String], path: &[String]) -> Names {
        let supers = path.iter().take_while(|name| *name == "super").count();
        let mut module = if path[0] == "crate" { &[] } else { &from[..from.len() - supers] }.to_vec();
        let mut rest: Names = path.iter().skip_while(|name| is_start(name)).cloned().collect();
        while let Some(name) = rest.first() {
            let inner = child(&module, name);
            if self.0.contains_key(&inner) {
                (module, rest) = (inner, rest.split_off(1));
                continue;
            }
            let declares = |name: &String| self.0.contains_key(&child(&module, name));
            let is_import = |path: &&Names| path.len() > 1 && path.last() == Some(name) && declares(&path[0]);
            let Some(import) = self.0[&module].iter().find(is_import) else { break };
            rest.splice(..1, import.iter().cloned());
        }
        module
    }

    /// Imports between the modules of each folder.
    fn imports(&self) -> BTreeMap<Names, Imports<'_>> {
        let mut folders: BTreeMap<Names, Imports> = BTreeMap::new();
        for (from, paths) in &self.0 {
            for path in paths {
                let to = self.target(from, path);
                let shared = from.iter().zip(&to).take_while(|(from, to)| from == to).count();
                if shared < from.len() && shared < to.len() {
                    let folder = folders.entry(from[..shared].to_vec()).or_default();
                    let names = folder.entry(from[shared].clone()).or_default().entry(to[shared].clone()).or_default();
                    names.extend(path.last().map(String::as_str));
                }
            }
        }
        folders
    }
}

/// Whether a path that begins with a name is one of this crate.
fn is_start(name: &str) -> bool {
    ["crate", "self", "super"].contains(&name)
}

fn child(module: &[String], name: &str) -> Names {
    module.iter().cloned().chain([name.to_owned()]).collect()
}

impl Module<'_> {
    fn add(&mut self, path: Names) {
        self.modules.0.get_mut(&self.name).expect("the module is read").insert(path);
    }

    fn add_uses(&mut self, mut prefix: Names, tree: &UseTree) {
        match tree {
            UseTree::Path(path) => {
                prefix.push(path.ident.to_string());
                self.add_uses(prefix, &path.tree);
            }
            UseTree::Group(group) => group.items.iter().for_each(|tree| self.add_uses(prefix.clone(), tree)),
            UseTree::Name(syn::UseName { ident }) | UseTree::Rename(syn::UseRename { ident, .. }) => {
                prefix.extend((ident != "self").then(|| ident.to_string()));
                self.add(prefix);
            }
            UseTree::Glob(_) => self.add(prefix),
        }
    }

    /// Adds the paths in the tokens of a macro.
    fn add_tokens(&mut self, tokens: TokenStream) {
        let mut path = Names::new();
        for token in tokens {
            match token {
                TokenTree::Ident(name) => path.push(name.to_string()),
                TokenTree::Punct(mark) if mark.as_char() == ':' => {}
                other => {
                    self.add_path(std::mem::take(&mut path));
                    if let TokenTree::Group(group) = other {
                        self.add_tokens(group.stream());
                    }
                }
            }
        }
        self.add_path(path);
    }

    /// Adds the path that begins at the first `crate`, `self` or `super` of these names.
    fn add_path(&mut self, mut names: Names) {
        if let Some(at) = names.iter().position(|name| is_start(name)) {
            self.add(names.split_off(at));
        }
    }
}

impl<'tree> Visit<'tree> for Module<'_> {
    fn visit_item(&mut self, item: &'tree syn::Item) {
        if let syn::Item::Fn(syn::ItemFn { attrs, .. })
        | syn::Item::Impl(syn::ItemImpl { attrs, .. })
        | syn::Item::Mod(syn::ItemMod { attrs, .. })
        | syn::Item::Use(syn::ItemUse { attrs, .. }) = item
            && attrs.iter().any(is_cfg_test)
        {
            return;
        }
        visit::visit_item(self, item);
    }

    fn visit_item_mod(&mut self, module: &'tree syn::ItemMod) {
        let declared = module.ident.to_string();
        let (name, folder) = (child(&self.name, &declared), self.folder.join(&declared));
        if let Some((_, items)) = &module.content {
            self.modules.0.insert(name.clone(), BTreeSet::new());
            let mut inner = Module { name, folder, modules: self.modules };
            for item in items {
                inner.visit_item(item);
            }
        } else {
            let file = folder.with_extension("rs");
            let file = if file.is_file() { file } else { folder.join("mod.rs") };
            self.modules.read(name, &file, &folder);
        }
    }

    fn visit_item_use(&mut self, item: &'tree syn::ItemUse) {
        self.add_uses(Names::new(), &item.tree);
    }

    fn visit_path(&mut self, path: &'tree syn::Path) {
        self.add_path(path.segments.iter().map(|segment| segment.ident.to_string()).collect());
        visit::visit_path(self, path);
    }

    fn visit_macro(&mut self, call: &'tree syn::Macro) {
        self.add_tokens(call.tokens.clone());
    }
}

/// Whether an attribute is `#[cfg(test)]`.
fn is_cfg_test(attribute: &syn::Attribute) -> bool {
    attribute.path().is_ident("cfg") && attribute.parse_args::<syn::Ident>().is_ok_and(|argument| argument == "test")
}

/// Removes modules that are in no cycle: those that import none, or that none imports.
fn keep_cycles(imports: &mut Imports) {
    loop {
        let importing: BTreeSet<String> = imports.keys().cloned().collect();
        let imported: BTreeSet<String> = imports.values().flat_map(BTreeMap::keys).cloned().collect();
        if importing == imported {
            return;
        }
        imports.retain(|name, _| imported.contains(name));
        for others in imports.values_mut() {
            others.retain(|name, _| importing.contains(name));
        }
        imports.retain(|_, others| !others.is_empty());
    }
}

/// A module that another one imports does not import it, directly or through others.
#[test]
fn no_module_is_in_an_import_cycle() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates");
    let entries = fs::read_dir(&crates).expect("the crates").map(|entry| entry.expect("an entry").file_name());
    let cycles = |name: OsString| {
        let src = Path::new(&name).join("src");
        let modules = Modules::of(&crates.join(&src));
        let in_folders = modules.imports().into_iter().filter_map(|(folder, mut imports)| {
            keep_cycles(&mut imports);
            let folder = folder.iter().fold(src.clone(), |path, name| path.join(name));
            (!imports.is_empty()).then(|| format!("{}: {imports:?}", folder.display()))
        });
        in_folders.collect::<Vec<_>>()
    };
    let found: Vec<String> = std::thread::scope(|scope| {
        let crates: Vec<_> = entries.map(|name| scope.spawn(|| cycles(name))).collect();
        crates.into_iter().flat_map(|found| found.join().expect("the crate is read")).collect()
    });
    assert!(found.is_empty(), "modules import each other in cycles: {found:#?}");
}

/// Paths of `super`, and names that the parent imports from a child, lead to the module that declares
/// them. `d` imports modules of a cycle, and is in none.
#[test]
fn a_planted_cycle_is_found() {
    let names = |path: &str| path.split("::").map(str::to_owned).collect::<Names>();
    let module = |name, paths: &[&str]| (names(name), paths.iter().map(|path| names(path)).collect());
    let parent = (Names::new(), BTreeSet::from([names("b::Bank")]));
    let modules = Modules(BTreeMap::from([
        parent,
        module("a", &["super::Bank"]),
        module("b", &["crate::c::Clock"]),
        module("c", &["std::fmt", "crate::a::Address"]),
        module("d", &["crate::a", "crate::b"]),
    ]));
    let mut imports = modules.imports().remove(&Names::new()).expect("modules import each other");
    keep_cycles(&mut imports);
    assert_eq!(imports.into_keys().collect::<Vec<_>>(), ["a", "b", "c"]);
}
