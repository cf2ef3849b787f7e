//! Presets: systems and machines that are part of the program, and what a name or a path stands for.

use std::borrow::Cow;
use std::path::{Component, Path, PathBuf};

use crate::{Failure, suggestion};

/// A file of `configs` that is part of the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Preset {
    /// Name of the file without `.toml`.
    pub name: &'static str,
    /// Content of the file.
    pub text: &'static str,
}

macro_rules! presets {
    ($($name:literal),+ $(,)?) => {
        &[$(Preset { name: $name, text: include_str!(concat!("../../../configs/", $name, ".toml")) }),+]
    };
}

/// System files, the paper's first.
pub static SYSTEMS: &[Preset] = presets![
    "ddr3-1066-paper",
    "ddr3-1066-paper-line-interleaved",
    "ddr3-1600-8gb-dimm",
    "ddr2-400",
    "ddr4-3200-16gb-dimm",
    "ddr5-4800-32gb-dimm",
    "zhao-2005-memory",
    "ioat-2006-memory",
    "edo-60ns-430fx",
    "fpm-60ns-430fx",
    "edo-60ns-440fx",
    "fpm-60ns-486",
    "power5-like-memory",
];

/// Machine files, the paper's first.
pub static MACHINES: &[Preset] = presets![
    "paper",
    "ddr4-desktop",
    "zhao-2005-in-order",
    "zhao-2005-out-of-order",
    "ioat-2006",
    "power5-like",
    "pentium-133",
    "pentium-100",
    "p6-200",
    "i486-100",
];

/// A system file or a machine file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Source {
    /// A file.
    File(PathBuf),
    /// A preset.
    Preset(&'static Preset),
}

impl Preset {
    /// Path of the file in the repository.
    pub fn path(&self) -> PathBuf {
        Path::new("configs").join(self.name).with_extension("toml")
    }
}

/// The preset with a name.
pub fn named(presets: &'static [Preset], name: &str) -> Option<&'static Preset> {
    presets.iter().find(|preset| preset.name == name)
}

/// The names of presets.
pub fn names(presets: &[Preset]) -> Vec<&'static str> {
    presets.iter().map(|preset| preset.name).collect()
}

/// The text "did you mean `x`? the presets are ...", for the name of a preset that does not exist.
pub(crate) fn choices(presets: &[Preset], name: &str) -> String {
    suggestion::choices(name, "presets", &names(presets))
}

/// A path that can be the name of a preset: a single word without an extension.
pub(crate) fn as_name(path: &Path) -> Option<&str> {
    let mut components = path.components();
    match (components.next(), components.next(), path.extension()) {
        (Some(Component::Normal(name)), None, None) => name.to_str(),
        _ => None,
    }
}

impl Source {
    /// What an argument of the command line stands for: a file, or if there is none, a preset.
    ///
    /// # Errors
    /// Neither exists.
    pub fn of_argument(argument: &Path, presets: &'static [Preset]) -> Result<Source, Failure> {
        if argument.exists() {
            return Ok(Source::File(argument.to_owned()));
        }
        if let Some(name) = as_name(argument) {
            let found = named(presets, name).map(Source::Preset);
            return found.ok_or_else(|| {
                let message = format!("\"{name}\" is neither a file nor a preset");
                Failure::new(message).with_help(choices(presets, name) + "; or give the path of a file")
            });
        }
        let stem = argument.file_stem().and_then(|stem| stem.to_str());
        match stem.and_then(|stem| named(presets, stem)) {
            Some(preset) => {
                let message = format!("{}: cannot be read: no such file or directory", argument.display());
                Err(Failure::new(message).with_help(format!("`{}` names the preset", preset.name)))
            }
            None => Ok(Source::File(argument.to_owned())),
        }
    }

    /// Its path; that of a preset is the one in the repository.
    pub fn path(&self) -> Cow<'_, Path> {
        match self {
            Source::File(path) => Cow::Borrowed(path),
            Source::Preset(preset) => Cow::Owned(preset.path()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_without_an_extension_can_name_a_preset() {
        for (path, name) in [
            ("ddr2-400", Some("ddr2-400")),
            ("ddr2-400.toml", None),
            ("configs/ddr2-400", None),
            ("./ddr2-400", None),
            ("..", None),
            ("", None),
        ] {
            assert_eq!(as_name(Path::new(path)), name, "{path}");
        }
    }

    #[test]
    fn what_does_not_exist_is_answered_with_the_presets() {
        let of = |argument: &str| Source::of_argument(Path::new(argument), SYSTEMS);
        assert_eq!(of("ddr2-400"), Ok(Source::Preset(named(SYSTEMS, "ddr2-400").unwrap())));
        let Failure { message, help, .. } = of("ddr4-3200").unwrap_err();
        assert_eq!(message, "\"ddr4-3200\" is neither a file nor a preset");
        assert!(help.as_ref().unwrap().contains("the presets are `ddr3-1066-paper`, "), "{help:?}");
        let Failure { message, help, .. } = of("configs/ddr2-400.toml").unwrap_err();
        assert_eq!(message, "configs/ddr2-400.toml: cannot be read: no such file or directory");
        assert_eq!(help.as_deref(), Some("`ddr2-400` names the preset"));
    }
}
