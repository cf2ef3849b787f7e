//! The job script: options of Slurm, and the command of each task.

use std::env;
use std::fmt::Write as _;
use std::path::Path;

use rowclone_config::{Failure, overrides::quoted};

use super::options::Options;
use super::submission::{LOGS, Submission};

impl Submission<'_> {
    /// Text of the script.
    ///
    /// # Errors
    /// A path has characters that a script cannot contain, or the paths of the program and of the working directory are
    /// unknown.
    pub fn script(&self) -> Result<String, Failure> {
        let unknown =
            |what: &'static str| move |error| Failure::new(format!("the system does not say {what}: {error}"));
        let here = env::current_dir().map_err(unknown("in which directory this is"))?;
        let program = env::current_exe().map_err(unknown("where this program is"))?;
        let logs = here.join(&self.options.directory).join(LOGS);
        let Submission { options, shards, of, tasks, .. } = self;
        let head: Vec<String> =
            self.head(&logs)?.iter().map(|option| format!("#SBATCH {}", for_sbatch(option))).collect();
        let head = head.join("\n");
        let here = quoted(text(&here)?);
        let mut words = vec![text(&program)?, "sweep", text(&options.sweep)?, "--out", text(&options.directory)?];
        words.extend(options.arguments.iter().map(String::as_str));
        let command = words.into_iter().map(quoted).collect::<Vec<_>>().join(" ");
        let shards = ranges(shards);
        Ok(format!(
            r#"#!/bin/sh
# A job array for Slurm, as `rowclone-sim sweep --slurm` submits it. Each task runs shards of the sweep, and records
# each run when it ends: a task may be killed or requeued at any time, and the same command submits the rest.
{head}

cd {here} || exit 2

run() {{
    {command} --shard "$1/{of}" --jobs "${{SLURM_CPUS_PER_TASK:-1}}"
}}

# Of these shards, task K runs the K-th, the (K + {tasks})-th, and so on.
worst=0
position=0
for range in {shards}; do
    shard=${{range%-*}}
    while [ "$shard" -le "${{range#*-}}" ]; do
        position=$((position + 1))
        if [ $(((position - SLURM_ARRAY_TASK_ID) % {tasks})) -eq 0 ]; then
            run "$shard"
            code=$?
            # The sweep cannot be done, or a signal ended it: the other shards are not tried.
            [ "$code" -eq 2 ] || [ "$code" -ge 128 ] && exit "$code"
            [ "$code" -gt "$worst" ] && worst=$code
        fi
        shard=$((shard + 1))
    done
done
exit "$worst"
"#
        ))
    }

    /// Options of `sbatch`. Of repeated options, `sbatch` uses the last.
    fn head(&self, logs: &Path) -> Result<Vec<String>, Failure> {
        let Options { max_running, partition, time, more, jobs, .. } = self.options;
        let throttle = max_running.map_or(String::new(), |running| format!("%{running}"));
        // `%` begins a pattern of `sbatch`, and a backslash escapes the next character.
        let logs = text(logs)?.replace('%', "%%");
        let mut head = vec![
            format!("--job-name={}", self.name),
            format!("--array=1-{}{throttle}", self.tasks),
            format!("--output={logs}/%A_%a.log"),
            "--open-mode=append".to_owned(),
            format!("--cpus-per-task={jobs}"),
        ];
        head.extend(partition.iter().map(|partition| format!("--partition={partition}")));
        head.extend(time.iter().map(|time| format!("--time={time}")));
        head.extend(more.iter().cloned());
        Ok(head)
    }
}

/// Ascending numbers as a list of ranges: `1-57 60 63-200`.
fn ranges(numbers: &[u64]) -> String {
    let mut text = String::new();
    let mut rest = numbers;
    while let Some(&first) = rest.first() {
        let length = rest.iter().zip(first..).take_while(|(number, expected)| *number == expected).count();
        let gap = if text.is_empty() { "" } else { " " };
        // Writing to a string does not fail.
        let _ = match rest[length - 1] {
            last if last == first => write!(text, "{gap}{first}"),
            last => write!(text, "{gap}{first}-{last}"),
        };
        rest = &rest[length..];
    }
    text
}

/// A path in the form for a script.
fn text(path: &Path) -> Result<&str, Failure> {
    let plain = |text: &&str| !text.contains(|c: char| c.is_control() || c == '\\');
    path.to_str().filter(plain).ok_or_else(|| {
        Failure::at(path, "this path cannot stand in a job script")
            .with_help("use a path without backslashes and control characters, in UTF-8")
    })
}

/// Quotes a text as one word of an option of `sbatch`, which reads quotes, and backslashes within them.
fn for_sbatch(option: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_@%+=:,./-[]".contains(c);
    if option.chars().all(plain) {
        return option.to_owned();
    }
    format!("\"{}\"", option.replace('\\', "\\\\").replace('"', "\\\""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbors_are_one_range() {
        assert_eq!(ranges(&[1, 2, 3, 5, 8, 9]), "1-3 5 8-9");
        assert_eq!(ranges(&[]), "");
    }

    #[test]
    fn sbatch_takes_any_option_for_one_word() {
        assert_eq!(for_sbatch("--array=1-20%5"), "--array=1-20%5");
        assert_eq!(for_sbatch("--job-name=a \"b\" #1"), "\"--job-name=a \\\"b\\\" #1\"");
    }

    #[test]
    fn a_path_that_would_break_the_script_is_refused() {
        for wrong in ["a\nb", "a\\b"] {
            assert!(text(Path::new(wrong)).is_err());
        }
        assert_eq!(text(Path::new("it's 5%")), Ok("it's 5%"));
    }
}
