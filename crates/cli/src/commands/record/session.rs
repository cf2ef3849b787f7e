//! A run of qemu with the plugin.

use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, sync_channel};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressFinish, ProgressStyle};
use rowclone_config::Failure;
use rowclone_sim::quantity::grouped;

use super::collector::{Collector, ThreadWords};
use super::{Output, RecordedRun};
use crate::child::started;
use crate::child::{self, POLL, ProcessGroup};
use crate::interrupt;

/// Blocks that may wait for their compression.
const WAITING_BLOCKS: usize = 16;

/// A socket on which the plugin's words are received.
#[derive(Debug)]
pub struct Session {
    socket: PathBuf,
    collector: Arc<Collector>,
    blocks: Receiver<ThreadWords>,
}

impl Session {
    /// Listens on a new socket in a folder.
    ///
    /// # Errors
    /// The socket cannot be created.
    pub fn begin(folder: &Path) -> Result<Session, Failure> {
        let socket = folder.join("socket");
        let listener = UnixListener::bind(&socket).map_err(|error| Failure::writing(&socket, &error))?;
        let (sender, blocks) = sync_channel(WAITING_BLOCKS);
        let collector = Collector::new(sender);
        collector.listen(listener);
        Ok(Session { socket, collector, blocks })
    }

    /// The value of qemu's option `-plugin`, with further options of the plugin.
    pub fn plugin(&self, plugin: &Path, further: &str) -> String {
        let (plugin, socket) = (quoted(plugin), quoted(&self.socket));
        format!("{plugin},plugin={plugin},socket={socket},thread=1,process=1,{further}")
    }

    /// Runs qemu, whose name in errors is `program`, and writes what it records. `recorded` is what it runs, and `help`
    /// what to do if it records nothing.
    ///
    /// # Errors
    /// It cannot be started; it records nothing; an interruption; the recording cannot be written.
    pub fn run(
        self,
        command: &mut Command,
        output: Output,
        program: &str,
        (recorded, help): (&str, &str),
    ) -> Result<RecordedRun, Failure> {
        let Session { collector, blocks, .. } = self;
        let stop = interrupt::flag();
        let progress = words_line();
        let start = Instant::now();
        let mut group = ProcessGroup::spawn(command).map_err(|error| started(program, &error))?;
        let writer = std::thread::spawn(move || write(output, &blocks));
        let ended = loop {
            let status = group.status(program)?;
            if let Some(status) = status.filter(|_| collector.is_idle() || !collector.has_begun()) {
                break Ok(status);
            }
            if let Err(error) = Failure::if_raised(&stop) {
                // Processes that have left the group, such as servers in the background.
                collector.pids().into_iter().for_each(child::kill);
                break Err(error);
            }
            progress.set_message(grouped(collector.words.load(Ordering::Relaxed)));
            std::thread::sleep(POLL);
        };
        let seconds = start.elapsed().as_secs_f64();
        let unseen = collector.finish();
        let output = writer.join().expect("the writer does not panic");
        let status = ended?;
        let mut output = output?;
        if !collector.has_begun() {
            let message = format!("{program} ended with {status} before it ran {recorded}");
            return Err(Failure::new(message).with_help(help));
        }
        group.ended();
        output.unseen.extend(unseen);
        Ok(RecordedRun { output, status, seconds })
    }
}

/// Writes the blocks.
fn write(mut output: Output, blocks: &Receiver<ThreadWords>) -> Result<Output, Failure> {
    for ThreadWords { task, words, contents } in blocks {
        output.block(task, &words, &contents)?;
    }
    Ok(output)
}

/// A path in an option of qemu, in which a comma separates.
fn quoted(path: &Path) -> String {
    path.to_string_lossy().replace(',', ",,")
}

/// A line with the number of recorded words, on standard error if that is a terminal; it is removed at the end.
fn words_line() -> ProgressBar {
    let style = ProgressStyle::with_template("recording: {msg} words, {elapsed}");
    let style = style.unwrap_or_else(|_| ProgressStyle::default_spinner());
    let line = ProgressBar::new_spinner().with_style(style).with_finish(ProgressFinish::AndClear);
    line.enable_steady_tick(Duration::from_millis(500));
    line
}
