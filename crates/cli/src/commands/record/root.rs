//! The root of a guest: busybox, the script that the kernel starts, and the program.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::Path;
use std::process::Command;

use elf::ElfBytes;
use elf::abi::PT_INTERP;
use elf::endian::LittleEndian;
use elf::file::Class;
use rowclone_config::Failure;

use super::initramfs::Archive;
use super::installed::{found_in_path, install};
use crate::child::started;

const BUSYBOX: &str = "busybox";
/// Folder of the program's file in the guest.
const FOLDER: &str = "root";

/// The archive of a guest that runs a program, writes its exit code to the second serial port, and powers off. The
/// program is an applet of busybox, or a file of this machine. Without words, the guest powers off at once.
///
/// # Errors
/// Busybox or the program cannot run in the guest.
pub fn of_program(words: &[OsString]) -> Result<Vec<u8>, Failure> {
    let Some((first, arguments)) = words.split_first() else { return of_command("echo 0 >/dev/ttyS1") };
    let quoted = |word: &OsStr| format!("'{}'", word.to_string_lossy().replace('\'', r"'\''"));
    let arguments: Vec<String> = arguments.iter().map(|word| quoted(word)).collect();
    let command = |program: &OsStr| format!("{} {}; echo $? >/dev/ttyS1", quoted(program), arguments.join(" "));
    if !first.as_encoded_bytes().contains(&b'/') {
        let (archive, applets) = with_busybox(&command(first))?;
        if applets.lines().any(|applet| applet == first) {
            return Ok(archive.finish());
        }
        let help = "give an applet of busybox (`busybox --list`), or the path of a static program";
        return Err(Failure::new(format!("the guest has no program {}", first.display())).with_help(help));
    }
    let path = Path::new(first);
    let name = format!("{FOLDER}/{}", path.file_name().unwrap_or_default().to_string_lossy());
    let contents = without_loader(path)?;
    let (mut archive, _) = with_busybox(&command(OsStr::new(&format!("/{name}"))))?;
    archive.program(&name, &contents);
    Ok(archive.finish())
}

/// The archive of a guest that runs a command of the shell, and powers off.
///
/// # Errors
/// Busybox is not installed, or not static.
pub fn of_command(command: &str) -> Result<Vec<u8>, Failure> {
    with_busybox(command).map(|(archive, _)| archive.finish())
}

/// An archive with busybox and a script that runs a command; and the names of the applets, one per line.
fn with_busybox(command: &str) -> Result<(Archive, String), Failure> {
    let busybox = found_in_path(OsStr::new(BUSYBOX)).ok_or_else(|| install(BUSYBOX, "busybox-static"))?;
    let listed = Command::new(&busybox).arg("--list").output().map_err(|error| started(BUSYBOX, &error))?;
    let applets = String::from_utf8_lossy(&listed.stdout).into_owned();
    let mut archive = Archive::default();
    for folder in ["proc", "sys", "dev", "tmp", FOLDER] {
        archive.folder(folder);
    }
    archive.program("bin/busybox", &without_loader(&busybox)?);
    for applet in applets.lines().filter(|applet| *applet != BUSYBOX) {
        archive.link(&format!("bin/{applet}"), BUSYBOX);
    }
    let mounts = "mount -t proc proc /proc\nmount -t sysfs sys /sys\nmount -t devtmpfs dev /dev";
    archive.program("init", format!("#!/bin/sh\n{mounts}\n{command}\npoweroff -f\n").as_bytes());
    Ok((archive, applets))
}

/// The bytes of a program that runs without a dynamic linker, or of a script.
fn without_loader(path: &Path) -> Result<Vec<u8>, Failure> {
    let bytes = fs::read(path).map_err(|error| Failure::reading(path, &error))?;
    if bytes.starts_with(b"#!") || is_static(&bytes) == Some(true) {
        return Ok(bytes);
    }
    let message =
        format!("{} cannot run in the guest: it is no static program for Linux, and no script", path.display());
    Err(Failure::new(message).with_help("link it with `-static`; of busybox, install Debian's package busybox-static"))
}

/// Whether an ELF file of 64 bits names no dynamic linker; `None` if the bytes are none.
fn is_static(bytes: &[u8]) -> Option<bool> {
    let elf = ElfBytes::<LittleEndian>::minimal_parse(bytes).ok().filter(|elf| elf.ehdr.class == Class::ELF64)?;
    Some(elf.segments()?.iter().all(|segment| segment.p_type != PT_INTERP))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_with_a_dynamic_linker_are_distinguished() {
        let mut bytes = vec![0; 64 + 2 * 56];
        bytes[..7].copy_from_slice(b"\x7fELF\x02\x01\x01");
        (bytes[32], bytes[54], bytes[56]) = (64, 56, 2);
        assert_eq!(is_static(&bytes), Some(true));
        bytes[64 + 56] = 3;
        assert_eq!(is_static(&bytes), Some(false));
        assert_eq!(is_static(&bytes[..100]), None);
        assert_eq!(is_static(b"text"), None);
    }
}
