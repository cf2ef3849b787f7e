//! Checks of the project's texts against the rules of `docs/style.md`, as far as a program can
//! check them.

mod code;
mod fields;
mod names;
mod pages;
mod retired;
mod spelling;
mod texts;
mod words;
